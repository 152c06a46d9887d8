import { createReadStream } from 'node:fs';
import { link, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { absent, olderThan, openFolder, openIncoming } from './incoming';
import type { Storage, StorageSettings } from './storage';

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
  const path = (key: string) => join(stored, key);
  const bytesOf = async (key: string) => (await stat(path(key)).catch(absent))?.size;
  return {
    ...incoming,
    settings,
    path,
    // Opening it has checked it.
    check: async () => {},
    // A second name, because `incoming` is cleared after the request.
    keep: (file, key) => link(file, path(key)),
    open: async (key) => {
      const bytes = await bytesOf(key);
      return bytes === undefined ? undefined : { stream: createReadStream(path(key)), bytes };
    },
    bytesOf,
    remove: (key) => rm(path(key), { force: true }),
    async *keysOlderThan(age_ms) {
      const keys = await olderThan(stored, age_ms);
      for (let at = 0; at < keys.length; at += KEYS) yield keys.slice(at, at + KEYS);
    },
  };
}
