import { constants } from 'node:fs';
import { link, lstat, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreAbsent, markFile, listOlderFiles, openFolder, openIncoming } from './incoming';
import { isStorageKey, requireStorageKey } from './keys';
import {
  STORAGE_MARK,
  StorageUnavailable,
  type Storage,
  type StorageSettings,
  type StoredFile,
} from './storage';

/** Keys per batch of `keysOlderThan`. */
const KEYS = 1_000;

/** Files in a folder of this machine, or of a disk that all machines share. */
export interface Directory extends Storage {
  path(key: string): string;
}

/**
 * Opens the folder, which is created when absent, unless it should have a mark. Throws if this user
 * may not write in it.
 */
export function openDirectory(settings: StorageSettings): Directory {
  const incoming = openIncoming(settings);
  const filesFolder = openFolder(settings, 'files');
  const isThere = buildPresenceCheck(settings);
  const path = (key: string) => join(filesFolder, requireStorageKey(key));
  const readSize = async (key: string) => {
    const stats = await lstat(path(key)).catch(ignoreAbsent);
    return stats?.isFile() ? stats.size : undefined;
  };
  return {
    settings,
    path,
    incoming: incoming.incoming,
    hasRoomFor: (bytes) => isThere().then(() => incoming.hasRoomFor(bytes)),
    clearIncoming: (ageMs) => isThere().then(() => incoming.clearIncoming(ageMs)),
    // Opening the folder has checked it.
    check: async () => {},
    keep: async (file, key) => {
      await isThere(key);
      // A hard link, because `incoming` is cleared after the request.
      await link(file, path(key));
    },
    open: async (key) => isThere(key).then(() => openFile(path(key))),
    readSize: async (key) => isThere(key).then(() => readSize(key)),
    remove: async (key) => isThere(key).then(() => rm(path(key), { force: true })),
    async *keysOlderThan(ageMs) {
      await isThere();
      // Files with other names do not belong to records.
      const keys = (await listOlderFiles(filesFolder, ageMs)).filter(isStorageKey);
      for (let at = 0; at < keys.length; at += KEYS) yield keys.slice(at, at + KEYS);
    },
  };
}

/**
 * A check that the folder has the mark of the installation: a disk may be unmounted for a time, or
 * replaced by another one. The mark itself is read and written without the check.
 */
function buildPresenceCheck({ folder, mark }: StorageSettings): (key?: string) => Promise<void> {
  const file = markFile(folder);
  return async (key) => {
    if (mark === undefined || key === STORAGE_MARK) return;
    const storedMark = await readFile(file, 'utf8').catch(() => undefined);
    if (storedMark?.trim() !== mark)
      throw new StorageUnavailable(`the storage of this installation is away: see ${file}`);
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
  error.code === 'ELOOP' ? undefined : ignoreAbsent(error);
