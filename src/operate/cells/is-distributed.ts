import type { Sql } from '../../data/sql';
import { IS_DISTRIBUTED } from './queries/open';

export async function isDistributed(sql: Sql): Promise<boolean> {
  const [row] = await sql(IS_DISTRIBUTED, {});
  return row!.is_distributed!;
}
