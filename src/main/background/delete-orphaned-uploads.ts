import type { Deps } from '../../domain/deps';
import { collectFromParts } from '../../operate/installation/all-parts';
import { STORAGE_MARK } from '../../platform/storage/storage';
import { FILES_IN_USE } from './queries/uploads';

const HOUR_MS = 3_600_000;

/**
 * Deletes files that no record refers to: left by requests that were killed, or replaced. Files
 * younger than `age_ms` may still become part of a record.
 */
export async function deleteOrphanedUploads(
  { storage, parts }: Pick<Deps, 'storage' | 'parts'>,
  ageMs = 6 * HOUR_MS,
): Promise<void> {
  await storage.clearIncoming(ageMs);
  for await (const keyPage of storage.keysOlderThan(ageMs)) {
    const keys = keyPage.filter((key) => key !== STORAGE_MARK);
    const inUse = await collectFromParts({ parts }, ({ sql }) => sql(FILES_IN_USE, { keys }));
    const used = new Set(inUse.map(({ key }) => key));
    for (const key of keys) if (!used.has(key)) await storage.remove(key);
  }
}
