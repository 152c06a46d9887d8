import type { Sql } from '../../data/sql';
import type { CompletedStatus } from '../leads/final-status';
import type { TenantLogEntry } from '../leads/write-logs';
import type { DueLead } from './due-lead';
import { endLeads, moveToSchedules } from '../leads/save-progress';
import { FIND_MOVE_TARGETS } from './queries/move-leads';

export interface Move {
  lead: DueLead;
  /** Id of the schedule. */
  to: string;
  status_if_ended: CompletedStatus;
}

type MoveTarget = { company_id: string; lead_id: string; name: string | null; is_taken: boolean };
type Ending = MoveTarget & { status: CompletedStatus };

/**
 * Moves locked leads to other schedules and returns the entries for their histories. A lead ends
 * when its number is already in the other schedule, or when that is deleted. Contact attempts move
 * with it, so that schedules which move leads back and forth end.
 *
 * The contacts are locked, so that only a submission can add a number to a schedule in the
 * meantime. The unique index on leads then fails the transaction, which is retried.
 */
export async function moveLeads(
  sql: Sql,
  moves: readonly Move[],
  now: Date,
): Promise<TenantLogEntry[]> {
  if (moves.length === 0) return [];
  const targets = await sql(FIND_MOVE_TARGETS, {
    company_ids: moves.map(({ lead }) => lead.company_id),
    lead_ids: moves.map(({ lead }) => lead.id),
    schedule_ids: moves.map(({ to }) => to),
    caller_numbers: moves.map(({ lead }) => lead.caller_number),
  });
  const byLead = new Map(moves.map((move) => [`${move.lead.company_id}/${move.lead.id}`, move]));
  const arrived = new Set<string>();
  const moving: (MoveTarget & { schedule_id: string })[] = [];
  const ending: Ending[] = [];
  const entries = targets.map((target): TenantLogEntry => {
    const { company_id, lead_id, schedule_id, name, is_taken } = target;
    const { lead, to, status_if_ended } = byLead.get(`${company_id}/${lead_id}`)!;
    // Two leads of one number cannot both move to a schedule: the first in the order of ids does.
    const targetKey = `${company_id}/${to}/${lead.caller_number}`;
    const isFirst = !arrived.has(targetKey);
    arrived.add(targetKey);
    if (schedule_id !== null && isFirst && !is_taken) {
      moving.push({ ...target, schedule_id });
      return { company_id, lead_id, event: 'moved_to_schedule', message: name };
    }
    ending.push({ ...target, status: status_if_ended });
    const reason =
      schedule_id === null
        ? 'the schedule it was to be moved to is gone'
        : 'its number is already in the schedule it was to be moved to';
    return { company_id, lead_id, event: 'ended', message: `${status_if_ended}: ${reason}` };
  });
  await moveToSchedules(sql, moving.map(toKeyed), now);
  await endLeads(sql, ending.map(toKeyed), now);
  return entries;
}

const toKeyed = <T extends { lead_id: string }>({ lead_id, ...target }: T) => ({
  ...target,
  id: lead_id,
});
