import type { DueLead, Executor } from '../db/due-leads';
import { writeLogs } from '../db/lead-logs';

/** Its attempts go with it, so that schedules that send a lead to and fro end. */
const MOVE = `UPDATE leads l SET schedule_id = s.id, offer_id = coalesce(s.offer_id, l.offer_id), status = 'scheduled', phase = 'actions', position = NULL, exit_reason = NULL, entered_at = $3::timestamptz,
    next_action_at = $3::timestamptz, due_at = $3::timestamptz, delay_reason = NULL, updated_at = $3::timestamptz
  FROM schedules s WHERE l.company_id = $1 AND l.id = $2 AND s.company_id = l.company_id AND s.id = $4 AND s.deleted_at IS NULL RETURNING s.name`;
const END = `UPDATE leads SET status = 'completed', is_live = false, due_at = NULL, schedule_ended_at = $3::timestamptz, updated_at = $3::timestamptz WHERE company_id = $1 AND id = $2`;

/** Takes a locked lead over into another schedule; where its number is already in that one, or it is gone, the lead has done its schedule. */
export async function moveLead(client: Executor, { company_id, id }: DueLead, to: string, now: Date): Promise<void> {
  const values = [company_id, id, now];
  await client.query({ text: 'SAVEPOINT move' });
  const moved = await client.query({ text: MOVE, values: [...values, to] }).catch(async (error: { code?: string }) => {
    if (error.code !== '23505') throw error;
    await client.query({ text: 'ROLLBACK TO SAVEPOINT move' });
    return undefined;
  });
  const [schedule] = (moved?.rows ?? []) as { name: string }[];
  if (!schedule) await client.query({ text: END, values });
  const why = moved ? 'the schedule it was to be moved to is gone' : 'its number is already in the schedule it was to be moved to';
  const log = schedule ? { event: 'moved_to_schedule', message: schedule.name } : { event: 'ended', message: `completed: ${why}` };
  const db = { query: async (statement: { text: string; values: unknown[] }) => (await client.query(statement)).rows as never };
  await writeLogs(db, [{ company_id, lead_id: id, ...log }], now);
}
