import { readLead, type DueLead } from './load-leads';
import type { ActionRow } from '../schedules/engine/plan';
import { writeLogs } from '../leads/queries/logs';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { JobContext } from '../jobs/queue';
import type { Tasks } from '../jobs/tasks';
import type { TokenSource } from '../tokens/substitute';
import type { Answered, Outgoing } from '../egress/guarded-request';
import { filled, storable } from '../egress/request-template';
import { openContext } from './context';
import { executorOf } from '../db/executor';

type Context = Pick<Deps, 'tenants' | 'clock' | 'request'>;

const TIMEOUT_MS = 15_000;
const MOST_TRIES = 5;
const NO_ACTION: Answered = {
  ok: false,
  reason: 'the action is gone, or sends no webhook any more',
  duration_ms: 0,
};

interface Queued {
  lead_id: string;
  schedule_action_id: string;
  details: { tries?: number; over?: boolean } | null;
}

/**
 * Sends the webhook of a schedule's action, with the tokens of the lead as they now are. What fails is tried five times in all; each try carries the
 * same `Webhook-Id`. Throws to be run again.
 */
export async function sendActionWebhook(
  { company_id, lead_log_id }: Tasks['send_action_webhook'],
  { signal }: JobContext,
  { tenants, clock, request }: Context,
): Promise<void> {
  const db = tenants.of(BigInt(company_id));
  const [queued] = await db.query<Queued>({
    text: 'SELECT lead_id, schedule_action_id, details FROM lead_logs WHERE company_id = $1 AND id = $2',
    values: [company_id, lead_log_id],
  });
  const lead = queued && (await readLead(executorOf(db), company_id, queued.lead_id));
  if (!lead || queued.details?.over) return;
  const world = await openContext(executorOf(db), [lead], clock());
  const [action] = await db.query<Pick<ActionRow, 'url' | 'method' | 'headers' | 'body'>>({
    text: 'SELECT url, method, headers, body FROM schedule_actions WHERE company_id = $1 AND id = $2 AND url IS NOT NULL AND deleted_at IS NULL',
    values: [company_id, queued.schedule_action_id],
  });
  signal.throwIfAborted();
  const answered = action
    ? await request(
        webhookOf(lead, action, {
          tokens: world.tokensOf(lead),
          webhook_id: `lead_log_${lead_log_id}`,
        }),
      )
    : NO_ACTION;
  const tries = (queued.details?.tries ?? 0) + (action ? 1 : 0);
  const delivered = answered.ok && answered.code >= 200 && answered.code < 300;
  const over =
    delivered ||
    tries >= MOST_TRIES ||
    !action ||
    (!answered.ok && answered.reason.startsWith('refused_'));
  await db.transaction((tx) =>
    record(tx, { lead_log_id, queued, answered, tries, over, delivered, now: clock() }),
  );
  if (!over) throw new Error(`the webhook was not delivered: ${wordsOf(answered)}`);
}

interface Sending {
  tokens: TokenSource;
  webhook_id: string;
}

function webhookOf(
  lead: DueLead,
  { url, method, headers, body }: Pick<ActionRow, 'url' | 'method' | 'headers' | 'body'>,
  { tokens, webhook_id }: Sending,
): Outgoing {
  const request = filled(
    { url: url!, method: method ?? 'post', headers: headers ?? {}, body },
    tokens,
    JSON.stringify(summaryOf(lead)),
  );
  return {
    ...request,
    headers: { ...request.headers, 'Webhook-Id': webhook_id },
    timeout_ms: TIMEOUT_MS,
  };
}

const summaryOf = ({
  id,
  uuid,
  caller_number,
  email,
  offer_id,
  schedule_id,
  status,
  data,
}: DueLead) => ({
  lead_id: Number(id),
  uuid,
  caller_id: `+${caller_number}`,
  email,
  offer_id: offer_id && Number(offer_id),
  schedule_id: schedule_id && Number(schedule_id),
  status,
  data,
});

const wordsOf = (answered: Answered): string =>
  answered.ok ? `answered ${answered.code}` : answered.reason;

/** Half of a pair where it is cut is left out. */
const cut = (text: string): string =>
  storable(text.slice(0, 1_000).replace(/[\ud800-\udbff]$/, ''), 1_000);

interface Outcome {
  lead_log_id: string;
  queued: Queued;
  answered: Answered;
  tries: number;
  over: boolean;
  delivered: boolean;
  now: Date;
}

/** Two runs of one job record one outcome: whoever is second finds it over. */
async function record(
  db: Db,
  { lead_log_id, queued, answered, tries, over, delivered, now }: Outcome,
): Promise<void> {
  const changed = await db.query({
    text: `UPDATE lead_logs SET details = $3::jsonb WHERE company_id = $1 AND id = $2::bigint AND coalesce((details->>'over')::boolean, false) = false RETURNING id`,
    values: [db.company_id, lead_log_id, JSON.stringify({ tries, over, last: wordsOf(answered) })],
  });
  if (!over || changed.length === 0) return;
  const { lead_id, schedule_action_id } = queued;
  const details = {
    tries,
    duration_ms: answered.duration_ms,
    ...(answered.ok
      ? { code: answered.code, response_body: cut(answered.body) }
      : { reason: answered.reason }),
  };
  const event = delivered ? 'webhook_delivered' : 'webhook_failed';
  await writeLogs(
    db,
    [
      {
        company_id: db.company_id,
        lead_id: String(lead_id),
        event,
        message: wordsOf(answered),
        schedule_action_id: String(schedule_action_id),
        details,
      },
    ],
    now,
  );
}
