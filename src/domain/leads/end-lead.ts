import type { Db } from '../../data/db';
import { changedAt, deletedAt } from '../../data/timestamps';
import { HttpProblem } from '../../platform/errors';
import { changeLead } from './change-lead';
import { END_CALLBACKS } from './queries/change-lead';
import { LOCK_LEAD } from './queries/leads';

/**
 * Columns of a lead that a request ends. Its row is locked while something is being sent to it: the
 * change waits, and nothing is sent afterwards.
 */
const ENDED = { is_live: false, due_at: null, claim_id: null };

/** Takes a lead out of its schedule or offer. A lead that has ended is left unchanged. */
export async function removeLead(db: Db, id: bigint, now: Date): Promise<void> {
  const change = { ...ENDED, status: 'disabled', schedule_ended_at: now, ...changedAt(now) };
  if (await changeLead(db, id, change, { event: 'removed', only_live: true }))
    await cancelCallbacks(db, id);
}

/** Deletes a lead whose row is locked. */
export async function deleteLead(db: Db, id: bigint, now: Date): Promise<void> {
  await changeLead(db, id, { ...ENDED, ...deletedAt(now) }, { event: 'deleted' });
  await cancelCallbacks(db, id);
}

/**
 * Moves a lead to the end-of-schedule actions. Throws 422 for the lead of an offer and for a lead
 * that has left its schedule.
 */
export async function moveToEnd(db: Db, id: bigint, now: Date): Promise<void> {
  const [lead] = await db.sql(LOCK_LEAD, { id });
  if (lead?.schedule_id === null)
    throw HttpProblem.field(
      'lead_token',
      'not_applicable',
      'belongs to an offer, which has no schedule',
    );
  if (!lead?.is_live)
    throw HttpProblem.field(
      'caller_id',
      'wrong_state',
      'belongs to a lead that has ended its schedule',
    );
  const isStopped = lead.due_at === null;
  const change = {
    phase: 'end',
    position: null,
    exit_reason: 'completed',
    callback_at: null,
    scheduled_callback_id: null,
    next_action_at: now,
    claim_id: null,
    tries: 0,
    ...(!isStopped && { status: 'scheduled', due_at: now }),
    ...changedAt(now),
  };
  await changeLead(db, id, change, { event: 'moved_to_end' });
  await cancelCallbacks(db, id);
}

const cancelCallbacks = ({ sql }: Db, leadId: bigint) =>
  sql(END_CALLBACKS, { lead_id: leadId, status: 'canceled' });
