import type { Db } from '../../data/db';
import { sourceFault, type SourceFault } from './engine/source';
import { SOURCE_LIMITS } from './queries/source-limits';

/** The reason against a call with up to `revenue` dollars of a traffic source now. */
export async function loadSourceFault(
  db: Pick<Db, 'sql'>,
  id: number,
  { revenue, now }: { revenue: number; now: Date },
): Promise<SourceFault | undefined> {
  const [row] = await db.sql(SOURCE_LIMITS, { id });
  return sourceFault({ paused: false, limits: row?.limits ?? null }, revenue, now);
}
