import type { Sql } from '../db/sql';
import { COUNT_FAILING_RULES } from './queries/alerts';

/** How many rules, of all companies of a database, could not be looked at when they last were. */
export async function countFailingRules(sql: Sql): Promise<number> {
  const [count] = await sql(COUNT_FAILING_RULES, {});
  return count!.rules!;
}
