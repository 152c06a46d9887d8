import type { Directory } from './directory';
import type { Storage } from './storage';

const MAX_CONCURRENT = 4;

export interface CopyCounts {
  /** Files copied by this call, and their bytes. */
  copied: number;
  copied_bytes: number;
  present: number;
}

/**
 * Copies the files of a folder that another storage does not have, or has with another size, and
 * compares the sizes afterwards. Deletes nothing. Throws when a size differs.
 */
export async function copyFiles(from: Directory, to: Storage): Promise<CopyCounts> {
  const done: CopyCounts = { copied: 0, copied_bytes: 0, present: 0 };
  // Negative, to include a file that is being stored now.
  for await (const keys of from.keysOlderThan(-60_000))
    for (let at = 0; at < keys.length; at += MAX_CONCURRENT)
      await Promise.all(
        keys.slice(at, at + MAX_CONCURRENT).map((key) => copyFile(from, to, key, done)),
      );
  return done;
}

async function copyFile(
  from: Directory,
  to: Storage,
  key: string,
  done: CopyCounts,
): Promise<void> {
  const bytes = await from.readSize(key);
  // The file was removed in the meantime.
  if (bytes === undefined) return;
  if ((await to.readSize(key)) === bytes) return void done.present++;
  await to.keep(from.path(key), key);
  const storedBytes = await to.readSize(key);
  if (storedBytes !== bytes)
    throw new Error(
      `${key} has ${storedBytes ?? 'no'} bytes after it was copied, instead of ${bytes}.`,
    );
  done.copied++;
  done.copied_bytes += bytes;
}
