import type { Statements } from '../db/tenant';
import { IS_SOURCE_PAUSED } from './queries/traffic-sources';

/** Whether calls of a traffic source get no buyer at present; not where there is no source. */
export async function isSourcePaused(
  { sql }: Pick<Statements, 'sql'>,
  id: string | number | null,
): Promise<boolean> {
  if (id === null) return false;
  return (await sql(IS_SOURCE_PAUSED, { id })).length > 0;
}
