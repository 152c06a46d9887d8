import type { DueLead } from './load-leads';
import type { LogEntry } from '../leads/queries/logs';
import { type Executor } from '../db/executor';

export interface Move {
  lead: DueLead;
  /** Id of the schedule. */
  to: string;
}

/**
 * Attempts go with a lead, so that schedules that send it to and fro end. Contacts are locked, so that only a submission can bring a number into a
 * schedule meanwhile: this fails then, and is to be done again.
 */
const MOVE = `WITH asked AS (SELECT c, i, t, row_number() OVER (PARTITION BY c, t, number ORDER BY i) AS place, number FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) AS x(c, i, t, number)),
  target AS (SELECT a.c, a.i, s.id, s.offer_id, s.name,
      a.place = 1 AND NOT EXISTS (SELECT FROM leads o WHERE o.company_id = a.c AND o.schedule_id = a.t AND o.caller_number = a.number AND o.is_live AND o.id <> a.i) AS is_free
    FROM asked a LEFT JOIN schedules s ON s.company_id = a.c AND s.id = a.t AND s.deleted_at IS NULL),
  moved AS (UPDATE leads l SET schedule_id = t.id, offer_id = coalesce(t.offer_id, l.offer_id), status = 'scheduled', phase = 'actions', position = NULL, exit_reason = NULL,
      entered_at = $1::timestamptz, next_action_at = $1::timestamptz, due_at = $1::timestamptz, delay_reason = NULL, updated_at = $1::timestamptz
    FROM target t WHERE l.company_id = t.c AND l.id = t.i AND t.id IS NOT NULL AND t.is_free RETURNING l.company_id, l.id, 'moved_to_schedule' AS event, t.name AS message),
  ended AS (UPDATE leads l SET is_live = false, due_at = NULL, next_action_at = NULL, schedule_ended_at = $1::timestamptz, updated_at = $1::timestamptz,
      status = CASE WHEN l.buyer_converted THEN 'completed_converted' WHEN l.connected_call_id IS NOT NULL THEN 'completed_connected'
        WHEN l.attempted_call_id IS NOT NULL THEN 'completed_attempted' ELSE 'completed' END
    FROM target t WHERE l.company_id = t.c AND l.id = t.i AND (t.id IS NULL OR NOT t.is_free) RETURNING l.company_id, l.id, 'ended' AS event,
      l.status || CASE WHEN t.id IS NULL THEN ': the schedule it was to be moved to is gone' ELSE ': its number is already in the schedule it was to be moved to' END AS message)
  SELECT company_id::text, id::text AS lead_id, event, message FROM (SELECT * FROM moved UNION ALL SELECT * FROM ended) o ORDER BY o.company_id, o.id`;

/**
 * Takes locked leads over into other schedules; where its number is already in that one, or that is gone, a lead has done its schedule. Answers
 * what is to be told of them.
 */
export async function moveLeads(
  client: Executor,
  moves: readonly Move[],
  now: Date,
): Promise<(LogEntry & { company_id: string })[]> {
  if (moves.length === 0) return [];
  const columns = [
    moves.map(({ lead }) => lead.company_id),
    moves.map(({ lead }) => lead.id),
    moves.map(({ to }) => to),
    moves.map(({ lead }) => lead.caller_number),
  ];
  return (await client.query({ text: MOVE, values: [now, ...columns] })).rows as (LogEntry & {
    company_id: string;
  })[];
}
