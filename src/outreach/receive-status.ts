import { FAILURE_CODES, isOver, type CallStatus, type MessageStatus } from '../carriers/carrier';
import { writeLogs } from '../leads/queries/logs';
import { callRank, messageRank } from './status-rank';
import type { Db } from '../db/tenant';

interface Changed {
  id: string;
  lead_id: string | null;
  schedule_action_id: string | null;
}

/** Leads are locked before what is sent to them, as by who sends: a report that comes meanwhile waits until the sending has been recorded. */
const lockLead = (db: Db, table: 'text_messages' | 'calls', key: string) =>
  db.query({
    text: `SELECT l.id FROM leads l WHERE l.company_id = $1::bigint AND l.id = (SELECT lead_id FROM ${table} WHERE company_id = $1::bigint AND uuid = $2::uuid) FOR NO KEY UPDATE`,
    values: [db.company_id, key],
  });

const meaningOf = (code: string): string =>
  Object.hasOwn(FAILURE_CODES, code)
    ? FAILURE_CODES[code as keyof typeof FAILURE_CODES]
    : `the carrier says ${code.replaceAll('_', ' ')}`;

export interface MessageReport {
  /** uuid of the message. */
  key: string;
  carrier_message_id: string;
  status: MessageStatus;
  error_code: string | undefined;
}

/** Takes what the carrier says of a message. Reports may come twice, late, and before the message's own sending was recorded. */
export async function receiveMessageStatus(
  db: Db,
  { key, carrier_message_id, status, error_code }: MessageReport,
  now: Date,
): Promise<void> {
  const error_message = error_code === undefined ? null : meaningOf(error_code);
  await db.transaction(async (tx) => {
    await lockLead(tx, 'text_messages', key);
    const [changed] = await tx.query<Changed>({
      text: `UPDATE text_messages SET status = $3, error_code = coalesce($4, error_code), error_message = coalesce($7, error_message), carrier_message_id = coalesce(carrier_message_id, $5),
          updated_at = $6::timestamptz, sent_at = CASE WHEN $3 = 'failed' THEN sent_at ELSE coalesce(sent_at, $6::timestamptz) END,
          delivered_at = CASE WHEN $3 = 'delivered' THEN $6::timestamptz ELSE delivered_at END
        WHERE company_id = $1::bigint AND uuid = $2::uuid AND direction = 'outbound' AND ${messageRank('status')} < ${messageRank('$3')}
        RETURNING id::text, lead_id::text, schedule_action_id::text`,
      values: [
        tx.company_id,
        key,
        status,
        error_code ?? null,
        carrier_message_id,
        now.toISOString(),
        error_message,
      ],
    });
    if (!changed?.lead_id || !['delivered', 'undelivered', 'failed'].includes(status)) return;
    const { id, lead_id, schedule_action_id } = changed;
    const message = error_message ? `${status}: ${error_message}` : status;
    await writeLogs(
      tx,
      [
        {
          company_id: tx.company_id,
          lead_id,
          event: 'sms_changed',
          message,
          schedule_action_id,
          text_message_id: id,
        },
      ],
      now,
    );
  });
}

export interface CallReport {
  /** uuid of the call. */
  key: string;
  carrier_call_id: string;
  status: CallStatus;
  /** Seconds. */
  duration: number | undefined;
}

/** SQL of a lead that is no longer being called. */
export const NOT_RUNNING = `CASE WHEN l.due_at IS NOT NULL THEN 'scheduled' WHEN l.schedule_id IS NULL THEN 'queue' ELSE 'waiting' END`;

/** Takes what the carrier says of a call, and what follows for its lead. */
export async function receiveCallStatus(
  db: Db,
  { key, carrier_call_id, status, duration }: CallReport,
  now: Date,
): Promise<void> {
  const over = isOver(status);
  const answered = status === 'in_progress' || status === 'completed';
  await db.transaction(async (tx) => {
    await lockLead(tx, 'calls', key);
    const [changed] = await tx.query<Changed>({
      text: `UPDATE calls SET status = $3, carrier_call_id = coalesce(carrier_call_id, $4), total_duration = coalesce($5::int, total_duration), updated_at = $6::timestamptz,
          answered_at = CASE WHEN $7::boolean THEN coalesce(answered_at, $6::timestamptz - coalesce($5::int, 0) * interval '1 second') ELSE answered_at END,
          ended_at = CASE WHEN $8::boolean THEN $6::timestamptz ELSE ended_at END
        WHERE company_id = $1::bigint AND uuid = $2::uuid AND ${callRank('status')} < ${callRank('$3')} RETURNING id::text, lead_id::text, schedule_action_id::text`,
      values: [
        tx.company_id,
        key,
        status,
        carrier_call_id,
        duration ?? null,
        now.toISOString(),
        answered,
        over,
      ],
    });
    if (!changed?.lead_id) return;
    const { id, lead_id, schedule_action_id } = changed;
    await tx.query({
      text: `UPDATE leads l SET updated_at = $4::timestamptz, connected_call_id = CASE WHEN $5::boolean THEN $3::bigint ELSE connected_call_id END,
          status = CASE WHEN l.status = 'running' AND $6::boolean THEN ${NOT_RUNNING} WHEN l.status = 'completed_attempted' AND $5::boolean THEN 'completed_connected' ELSE l.status END
        WHERE l.company_id = $1::bigint AND l.id = $2::bigint`,
      values: [tx.company_id, lead_id, id, now.toISOString(), answered, over],
    });
    const message = over && duration !== undefined ? `${status} after ${duration} s` : status;
    if (answered || over)
      await writeLogs(
        tx,
        [
          {
            company_id: tx.company_id,
            lead_id,
            event: 'call_changed',
            message,
            schedule_action_id,
            call_id: id,
          },
        ],
        now,
      );
  });
}
