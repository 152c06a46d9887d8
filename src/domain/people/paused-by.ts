import type { Caller } from '../../api/auth/caller';

export interface Pausable {
  paused: boolean;
}

/**
 * Returns the columns that record when a record was paused or unpaused, and by which user; none
 * where `paused` does not change.
 */
export function buildPauseColumns(
  before: Pausable,
  paused: boolean | undefined,
  { caller, now }: { caller: Caller; now: Date },
) {
  if (paused === undefined || paused === before.paused) return {};
  return paused
    ? { paused_at: now, paused_by_user_id: caller.user_id }
    : { unpaused_at: now, paused_by_user_id: null };
}

/** `buildPauseColumns` in SQL, over the stored record (t) and the written values. */
const COMPUTED_PAUSE_COLUMNS = {
  paused_at:
    'CASE WHEN {row_paused}::boolean AND NOT t.paused THEN {now}::timestamptz ELSE t.paused_at END',
  unpaused_at: `CASE WHEN t.paused AND NOT {row_paused}::boolean THEN {now}::timestamptz
      ELSE t.unpaused_at END`,
  paused_by_user_id: `CASE
    WHEN {row_paused}::boolean = t.paused THEN t.paused_by_user_id
    WHEN {row_paused}::boolean THEN {row_paused_by_user_id}::bigint
  END`,
};

/**
 * The columns of a record that may be paused or unpaused, for one statement
 * (src/data/projection/write.ts).
 */
export const buildPauseWrite = (
  { paused }: { paused?: boolean | undefined },
  { user_id }: Caller,
  row: Record<string, unknown>,
) =>
  paused === undefined
    ? { row }
    : { row: { ...row, paused_by_user_id: user_id }, computed: COMPUTED_PAUSE_COLUMNS };
