import type { Sql } from '../db/sql';
import { FOLD_NEXT_ACTIONS } from './queries/next-actions';

/**
 * Leaves one row for each hour in which leads have their next action, and none for other hours.
 * Writers fold the rows of their hours, but nobody writes to an hour that has passed.
 */
export async function foldNextActions(sql: Sql): Promise<void> {
  await sql(FOLD_NEXT_ACTIONS, {});
}
