import type { Db } from '../../data/db';
import {
  BLOCK_NUMBERS,
  LOCK_NUMBERS,
  MOVE_BLOCKED_COUNT,
  UNBLOCK_NUMBERS,
} from './queries/numbers';

export type Verb = 'block' | 'unblock';

/** The change of a list's count when `n` numbers were blocked or unblocked. */
export const toCountDelta = (verb: Verb, n: number): number => (verb === 'block' ? n : -n);

/**
 * Puts numbers on a list or takes them off, and keeps the list's exact count. Returns how many
 * changed; undefined when the list has been deleted, and then the transaction must be rolled back.
 * `numbers` must be ascending, so that two such statements do not wait for each other.
 */
export async function changeNumbers(
  tx: Db,
  list: bigint,
  verb: Verb,
  numbers: readonly number[],
): Promise<number | undefined> {
  if (verb === 'unblock') await tx.sql(LOCK_NUMBERS, { list, numbers });
  const [row] = await tx.sql(verb === 'block' ? BLOCK_NUMBERS : UNBLOCK_NUMBERS, { list, numbers });
  const changed = Number(row!.changed);
  const moved = await tx.sql(MOVE_BLOCKED_COUNT, { list, by: toCountDelta(verb, changed) });
  return moved.length === 0 ? undefined : changed;
}
