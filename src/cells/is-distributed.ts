import type { Sql } from '../db/sql';
import { IS_DISTRIBUTED } from './queries/open';

/** Whether the rows of a database are in cells. */
export async function isDistributed(sql: Sql): Promise<boolean> {
  const [found] = await sql(IS_DISTRIBUTED, {});
  return found!.is_distributed!;
}
