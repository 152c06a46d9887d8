import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Db } from '../../data/db';
import type { Deps } from '../../domain/deps';
import type { Call, Handlers } from '../../api/handlers';
import { IgnoredFields } from '../../api/request/set-aside';
import { discardUpload, storeUpload, type Upload } from '../../api/request/upload';
import { writeNewFile } from '../../platform/storage/new-file';
import { addSuppressionFile } from '../../domain/suppression/add-file';
import { importSuppressionFile } from '../../domain/suppression/import-file';
import { createDeliverer } from '../../domain/webhooks/deliver';
import { fanOutWebhookEvents } from '../../domain/webhooks/fan-out-events';
import { playCall } from './busy-calls';
import type { BusyPlan, PlannedLead } from './busy-plan';
import type { BusyIds } from './busy-setup';
import { LEAD_OF_NUMBER } from './queries/demo';

type Maker = Omit<Call<'createOffer'>, 'body' | 'query'> & { query: Record<never, never> };

export interface BusyDay {
  db: Db;
  call: Maker;
  handlers: Handlers;
  ids: BusyIds;
  plan: BusyPlan;
  /** Uses the time that `at` sets. */
  deps: Deps;
  at: (time: Date) => void;
}

/** Plays the plan in the order of time: leads come in, people call, leads end. */
export async function playDay(
  { db, call, handlers, ids, plan, at }: BusyDay,
  until: Date,
): Promise<void> {
  const submit = (lead: PlannedLead) =>
    handlers.captureLead({
      ...call,
      body: {
        ...{ caller_id: lead.caller_number, first_name: lead.first_name },
        ...{ state: lead.state, zip: lead.zip },
        ...(lead.is_queued ? { offer_id: ids.offers.home! } : { schedule_id: ids.schedule_id }),
        traffic_source_id: ids.sources[lead.source]!,
      },
      ignored: new IgnoredFields(new Set()),
    });
  const end = async (lead: PlannedLead) => {
    if (lead.end === 'stays' || lead.end === 'calls') return undefined;
    const { caller_number } = lead;
    if (lead.end === 'is_blocked')
      return handlers.blockContacts({ ...call, body: { caller_ids: [caller_number] } });
    const [storedLead] = await db.sql(LEAD_OF_NUMBER, { number: caller_number.slice(1) });
    const params = { id: storedLead!.id };
    return lead.end === 'is_removed'
      ? handlers.deleteLead({ ...call, params, body: undefined })
      : handlers.updateLead({ ...call, params, body: { opt_out: true } });
  };
  const moments = [
    ...plan.calls.map((plannedCall) => ({
      time: plannedCall.at,
      run: () => playCall(plannedCall, { db, ids, until }),
    })),
    ...plan.leads.flatMap((lead) => [
      { time: lead.at, run: () => submit(lead) },
      { time: lead.ends_at, run: () => end(lead) },
    ]),
  ].filter(({ time }) => time <= until);
  for (const { time, run } of moments.toSorted((a, b) => +a.time - +b.time)) {
    at(time);
    await run();
  }
  at(until);
}

/** Rows like those of a spreadsheet: some are no numbers. */
const ROWS = [
  ['caller_id', 'note'],
  ...Array.from({ length: 240 }, (_, n) => [`(213) 555-${String(1_000 + n)}`, 'asked by phone']),
  ['n/a', 'unknown'],
  ['555-0100', 'without an area code'],
  ['+1 310 555 01', 'cut off'],
];

export async function importNumbers({ db, call, ids, deps }: BusyDay): Promise<void> {
  const { storage } = deps;
  const path = join(storage.incoming, randomUUID());
  const text = ROWS.map((cells) => `${cells.join(',')}\n`).join('');
  await writeNewFile(path, text);
  const upload: Upload = { path, name: 'do-not-call.csv', bytes: Buffer.byteLength(text) };
  try {
    await storeUpload(storage, upload);
    const fields = { name: 'Requests of this week', buyer_suppression_id: ids.list_id };
    const { caller } = call;
    const id = await db.transaction((tx) =>
      addSuppressionFile(tx, { fields, upload, caller }, deps),
    );
    // A worker may import it too: the file is imported once.
    await importSuppressionFile(
      { company_id: String(db.company_id), id: String(id) },
      { job_id: randomUUID(), signal: new AbortController().signal },
      deps,
    );
  } finally {
    await discardUpload(storage, upload);
  }
}

/** Long enough for the look-up of the receiver's name. */
const MAX_ATTEMPTS = 50;
const LOOK_MS = 100;

/** Sends the pending webhooks like a worker, until that of the demo has been tried. */
export async function deliverOnce(db: Db, deps: Deps): Promise<void> {
  while ((await fanOutWebhookEvents(deps)) > 0);
  const deliveries = createDeliverer(deps);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    await deliveries.begin();
    if ((await db.prisma.webhookLog.count()) > 0) break;
    await setTimeout(LOOK_MS);
  }
  await deliveries.stop();
}
