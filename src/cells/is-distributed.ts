import type { Sql } from '../db/sql';
import { IS_DISTRIBUTED } from './queries/open';

export async function isDistributed(sql: Sql): Promise<boolean> {
  const [found] = await sql(IS_DISTRIBUTED, {});
  return found!.is_distributed!;
}
