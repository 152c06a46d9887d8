import type { Caller } from '../http/auth/caller';

export interface Pausable {
  paused: boolean;
}

/**
 * Returns the columns that record when a record was paused or unpaused, and by which user; none
 * where `paused` does not change.
 */
export function pauseColumns(
  before: Pausable,
  paused: boolean | undefined,
  { caller, now }: { caller: Caller; now: Date },
) {
  if (paused === undefined || paused === before.paused) return {};
  return paused
    ? { paused_at: now, paused_by_user_id: caller.user_id }
    : { unpaused_at: now, paused_by_user_id: null };
}
