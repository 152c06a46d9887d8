import type { Deps } from '../deps';

const HOUR_MS = 3_600_000;

/** Removes files that no record holds: what a request left that was killed, and what was replaced. Young ones may still be on their way to their record. */
export async function deleteOrphanedUploads(
  { storage, database }: Pick<Deps, 'storage' | 'database'>,
  age_ms = 6 * HOUR_MS,
): Promise<void> {
  await storage.clearIncoming(age_ms);
  const keys = await storage.keysOlderThan(age_ms);
  if (keys.length === 0) return;
  const { rows } = await database.pool.query(
    'SELECT import_file_key AS key FROM buyer_suppression_files WHERE import_file_key = ANY($1)',
    [keys],
  );
  const held = new Set(rows.map(({ key }) => key));
  for (const key of keys) if (!held.has(key)) await storage.remove(key);
}
