import type { Deps } from '../deps';
import { FILES_IN_USE } from './queries/uploads';

const HOUR_MS = 3_600_000;

/**
 * Deletes files that no record refers to: left by requests that were killed, or replaced. Files
 * younger than `age_ms` may still become part of a record.
 */
export async function deleteOrphanedUploads(
  { storage, database }: Pick<Deps, 'storage' | 'database'>,
  age_ms = 6 * HOUR_MS,
): Promise<void> {
  await storage.clearIncoming(age_ms);
  for await (const keys of storage.keysOlderThan(age_ms)) {
    const used = new Set((await database.sql(FILES_IN_USE, { keys })).map(({ key }) => key));
    for (const key of keys) if (!used.has(key)) await storage.remove(key);
  }
}
