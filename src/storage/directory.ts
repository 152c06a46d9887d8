import { constants } from 'node:fs';
import { link, lstat, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { absent, olderThan, openFolder, openIncoming } from './incoming';
import { isStorageKey, requireStorageKey } from './keys';
import type { Storage, StorageSettings, StoredFile } from './storage';

/** How many keys are told at a time. */
const KEYS = 1_000;

/** Files in a folder of this machine, or of a disk that all machines share. */
export interface Directory extends Storage {
  path(key: string): string;
}

/** Opens the folder, which is made when absent. Throws if this user may not write in it. */
export function openDirectory(settings: StorageSettings): Directory {
  const incoming = openIncoming(settings);
  const stored = openFolder(settings.folder, 'files');
  const path = (key: string) => join(stored, requireStorageKey(key));
  const bytesOf = async (key: string) => {
    const stats = await lstat(path(key)).catch(absent);
    return stats?.isFile() ? stats.size : undefined;
  };
  return {
    ...incoming,
    settings,
    path,
    // Opening it has checked it.
    check: async () => {},
    // A second name, because `incoming` is cleared after the request.
    keep: async (file, key) => link(file, path(key)),
    open: async (key) => openFile(path(key)),
    bytesOf,
    remove: async (key) => rm(path(key), { force: true }),
    async *keysOlderThan(age_ms) {
      // Whatever else somebody has put there is no file of a record.
      const keys = (await olderThan(stored, age_ms)).filter(isStorageKey);
      for (let at = 0; at < keys.length; at += KEYS) yield keys.slice(at, at + KEYS);
    },
  };
}

/** Does not follow a link that has the name of a file. */
async function openFile(path: string): Promise<StoredFile | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(ignoreAbsentOrLink);
  if (!handle) return undefined;
  const stats = await handle.stat();
  if (stats.isFile()) return { stream: handle.createReadStream(), bytes: stats.size };
  await handle.close();
  return undefined;
}

const ignoreAbsentOrLink = (error: NodeJS.ErrnoException): undefined =>
  error.code === 'ELOOP' ? undefined : absent(error);
