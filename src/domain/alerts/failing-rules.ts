import type { Sql } from '../../data/sql';
import { COUNT_FAILING_RULES } from './queries/alerts';

export async function countFailingRules(sql: Sql): Promise<number> {
  const [count] = await sql(COUNT_FAILING_RULES, {});
  return count!.rules!;
}
