import { countFailingRules } from '../../domain/alerts/failing-rules';
import type { Sql } from '../../data/sql';
import { listLoopFaults } from '../../data/jobs/loop-faults';

/** Current faults of the background work of a database, as sentences without names of customers. */
export async function listFaults(sql: Sql): Promise<string[]> {
  const loops = await listLoopFaults(sql);
  const rules = await countFailingRules(sql);
  return [
    ...loops.map(({ name, first_at }) => `${name} (since ${first_at.toISOString()})`),
    ...(rules > 0 ? [`alert rules that could not be looked at: ${rules}`] : []),
  ];
}
