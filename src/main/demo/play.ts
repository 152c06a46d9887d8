import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { storeUpload, discardUpload, type Upload } from '../../api/request/upload';
import type { Db } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import { handleCallEvent, type ReportedEvent } from '../../domain/calls/handle-event';
import { readIncomingCall } from '../../domain/calls/receive';
import type { CallSession } from '../../domain/calls/session';
import { startCall } from '../../domain/calls/start';
import type { Deps } from '../../domain/deps';
import { isCheckRequired } from '../../domain/routing/pre-dial';
import { importSuppressionFile } from '../../domain/suppression/import-file';
import { createDeliverer } from '../../domain/webhooks/deliver';
import { fanOutWebhookEvents } from '../../domain/webhooks/fan-out-events';
import { writeNewFile } from '../../platform/storage/new-file';
import { loadDemoData } from './data';
import {
  choose,
  createChances,
  drawBetween,
  type BusyPlan,
  type Chance,
  type PlannedCall,
  type PlannedLead,
} from './plan';
import { PREPARE_PLAY } from './queries/demo';
import type { Fields, Ids, Sender } from './requests';

interface Stage {
  /** Uses the time that `setTime` sets. */
  deps: Deps;
  /** The end of the day: later events do not happen. */
  until: Date;
  setTime: (time: Date) => void;
  progress?: ((share: number) => void) | undefined;
}

interface Moment {
  time: Date;
  /** That of the call, or to which the lead's call will go. */
  offer: Fields;
  play: () => Promise<void>;
}

/**
 * Moments that end before a later one begins. Lists show records in the order in which they were
 * made: offers that are played at the same time must not drift apart.
 */
const MOMENTS_AT_ONCE = 48;

/**
 * Plays the plan: leads come in, people call, leads end. Offers are played at the same time, because
 * they share no buyer and thus no cap; what happens to one of them is played in the order of time.
 */
export async function playDay(
  plan: BusyPlan,
  sender: Sender,
  { progress = () => {}, ...stage }: Stage,
): Promise<void> {
  const moments = listMoments(plan, sender, stage);
  let played = 0;
  for (let start = 0; start < moments.length; start += MOMENTS_AT_ONCE) {
    const next = moments.slice(start, start + MOMENTS_AT_ONCE);
    const playOffer = async (offer: Fields) => {
      for (const { play } of next.filter((moment) => moment.offer === offer)) {
        await play();
        progress(++played / moments.length);
      }
    };
    await Promise.all([...new Set(next.map(({ offer }) => offer))].map(playOffer));
  }
  stage.setTime(stage.until);
  await importNumbers(sender, stage.deps);
}

/** Lists what happens by the end of the day, in the order of time. */
function listMoments(
  { calls, leads }: BusyPlan,
  sender: Sender,
  { until, setTime }: Stage,
): Moment[] {
  const offer = loadDemoData().day.captured.call_offer;
  /** Operations take their time from the clock, events of calls bring it. */
  const buildLeadMoment = (time: Date, play: () => Promise<void>): Moment => ({
    ...{ time, offer },
    play: () => {
      setTime(time);
      return play();
    },
  });
  const ofCalls = calls.map((call) => ({
    ...{ time: call.at, offer: call.offer },
    play: () => playCall(call, sender, until),
  }));
  const ofLeads = leads.flatMap((lead) => [
    buildLeadMoment(lead.at, () => sender.send('captureLead', lead.request)),
    buildLeadMoment(lead.ends_at, () => endLead(lead, sender)),
  ]);
  return [...ofCalls, ...ofLeads]
    .filter(({ time }) => time <= until)
    .toSorted((a, b) => +a.time - +b.time);
}

async function endLead({ end, request }: PlannedLead, { send }: Sender): Promise<void> {
  if (end === 'is_blocked') await send('blockContacts', { caller_ids: [request.caller_id] });
  if (end === 'is_removed') await send('deleteLead', { id: request });
  if (end === 'opts_out') await send('updateLead', { id: request, opt_out: true });
}

/** A call that is answered or given up ends long before. */
const MAX_STEPS = 30;

/**
 * Plays a call from its first ring to its end as a softswitch would report it, or up to the end of
 * the day. Runs in one transaction, so that no worker takes a call of yesterday for one whose end
 * was lost.
 */
async function playCall(call: PlannedCall, { db, ids }: Sender, until: Date): Promise<void> {
  const chance = createChances(call.seed);
  await db.transaction(async (tx) => {
    await tx.sql(PREPARE_PLAY, {});
    let session = await beginPlannedCall(tx, call, ids);
    let at = call.at;
    for (let step = 0; step < MAX_STEPS; step++) {
      const next = nextMoment(session, call, { at, chance });
      if (!next || next.at > until) return;
      at = next.at;
      const preDial = buildPreDialState(call, at);
      session = requireFinished(
        await handleCallEvent(tx, session.uuid, { ...next.report, preDial }, at),
      );
    }
  });
}

async function beginPlannedCall(tx: Db, call: PlannedCall, ids: Ids): Promise<CallSession> {
  const { at, caller_number, state, source } = call;
  const reported = {
    caller_number,
    offer_id: ids.get(call.offer)!,
    traffic_source_id: ids.get(source)!,
    sub_id: `${String(source.user_traffic_source_id)}-${state.toLowerCase()}`,
    tokens: { state },
  };
  const incoming = await readIncomingCall(tx, reported, at);
  return requireFinished(
    await startCall(tx, { ...incoming, preDial: buildPreDialState(call, at) }, at),
  ).session;
}

/** The seed of the plan makes the draws of routing repeatable. */
const buildPreDialState = ({ seed }: PlannedCall, at: Date) => ({
  verdicts: new Map(),
  bids: new Map(),
  uuid: uuidv7(at.getTime()),
  seed,
});

function requireFinished<T extends object>(
  result: T,
): Exclude<T, { kind: 'pre_dial_check_required' }> {
  if (isCheckRequired(result)) throw new Error('a demo company has no pre-dial webhooks');
  return result as Exclude<T, { kind: 'pre_dial_check_required' }>;
}

const addSeconds = (at: Date, seconds: number) =>
  new Date(at.getTime() + Math.round(seconds * 1000));

/** Returns the next report about a call; undefined once it is over. */
function nextMoment(
  { instruction: { action, dial, attempt: current } }: CallSession,
  { at: startedAt, patience, talk }: PlannedCall,
  { at, chance }: { at: Date; chance: Chance },
): { at: Date; report: ReportedEvent } | undefined {
  const { rings, answers } = loadDemoData().day;
  const attempt = current ?? undefined;
  if (action === 'connect') return { at: addSeconds(at, talk), report: { event: 'completed' } };
  if (action === 'ask_for_key')
    return { at: addSeconds(at, 2), report: { event: 'key_press', attempt, key: '1' } };
  if (action !== 'dial') return undefined;
  const answersAt = addSeconds(at, drawBetween(chance, rings));
  const givesUp = addSeconds(startedAt, patience);
  if (givesUp < answersAt) return { at: givesUp, report: { event: 'completed' } };
  const event = choose(chance, answers);
  const rung = dial[Math.floor(chance() * dial.length)]!.attempt;
  return { at: answersAt, report: { event, attempt: rung } };
}

async function importNumbers({ db, ids, send }: Sender, deps: Deps): Promise<void> {
  const { fields, file_name, header, row, first, rows, rejected } = loadDemoData().day.import;
  const numbers = Array.from({ length: rows }, (_, n) => row.replace('#', String(first + n)));
  const text = [header, ...numbers, ...rejected].map((line) => `${line}\n`).join('');
  const { storage } = deps;
  const path = join(storage.incoming, randomUUID());
  await writeNewFile(path, text);
  const upload: Upload = { path, name: file_name, bytes: Buffer.byteLength(text) };
  try {
    await storeUpload(storage, upload);
    await send('createBuyerSuppressionFile', fields, upload);
    // A worker may import it too: the file is imported once.
    await importSuppressionFile(
      { company_id: String(db.company_id), id: ids.get(fields)! },
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
