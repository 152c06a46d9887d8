import { createHash } from 'node:crypto';
import { deleteInPortions, PORTION } from '../portions';
import { DELETE_UNUSED_COUNTS, LOAD_COUNT, SAVE_COUNT } from './queries/saved-counts';
import type { Projection } from '../projection/projection';
import { CHUNK, cachedCounts, type SavedCount, type CachedCount } from './settled-counts';
import type { Sql } from '../sql';
import type { Db } from '../db';

// Counts of calls that processes have made are kept in `saved_counts`, for processes that start
// later. They only save time: a lost count is made again.

interface CountFilter {
  conditions: readonly string[];
  values: Record<string, unknown>;
}

/** A count that this or an earlier process has cached in part. */
export async function prepareSavedCount(
  db: Pick<Db, 'key' | 'sql' | 'stale'>,
  projection: Projection,
  { conditions, values }: CountFilter,
  counts = cachedCounts,
): Promise<CachedCount> {
  const what = JSON.stringify([CHUNK, projection.plural, conditions, values]);
  const key = `${db.key} ${what}`;
  // A standby can neither save a count nor note that one was used.
  if (hasPeriod(values) || db.stale) return counts.prepare(projection, conditions, key);
  const digest = createHash('sha256').update(what).digest('base64');
  await counts.loadOnce(key, async () => {
    // If it fails, for example in a read-only database, the count is made again.
    const [row] = await db.sql(LOAD_COUNT, { key: digest }).catch(() => []);
    return row && { ...(JSON.parse(row.counted) as SavedCount), run: row.run };
  });
  const save = ({ run, ...counted }: SavedCount) =>
    db.sql(SAVE_COUNT, { key: digest, counted: JSON.stringify(counted), run: run! });
  const count = counts.prepare(projection, conditions, key);
  return {
    ...count,
    read: (answer) => {
      const total = count.read(answer);
      const counted = counts.takeUnsaved(key);
      // The list need not wait. If it fails, the next process makes the count again.
      if (counted) void save(counted).catch(() => {});
      return total;
    },
  };
}

/** Lists up to now use a new time in each request: their saved counts would pile up. */
const hasPeriod = (values: Record<string, unknown>): boolean =>
  Object.keys(values).some((name) => /_(?:from|to)$/.test(name));

/** Deletes counts of all companies that no process has loaded for a month. */
export async function deleteUnusedCounts(sql: Sql): Promise<void> {
  await deleteInPortions(async () => {
    const [row] = await sql(DELETE_UNUSED_COUNTS, { max: PORTION });
    return row!.deleted!;
  });
}
