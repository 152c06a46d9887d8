import { PORTION } from '../../data/portions';
import type { Sql } from '../../data/sql';
import { FOLD_NEXT_ACTIONS } from './queries/next-actions';

/**
 * Leaves one row for each hour in which leads have their next action, and none for other hours.
 * Writers fold the rows of their hours, but an hour that has passed has no writer.
 */
export async function foldNextActions(sql: Sql): Promise<void> {
  // Continues after the last hour: rows that other transactions hold are skipped.
  for (let after = { after_company: '0', after_hour: new Date(0) }; ;) {
    const folded = await sql(FOLD_NEXT_ACTIONS, { ...after, max: PORTION });
    const last = folded.at(-1);
    if (!last) return;
    after = { after_company: last.company_id!, after_hour: last.hour! };
  }
}
