import {
  accessSync,
  constants,
  createReadStream,
  existsSync,
  mkdirSync,
  type ReadStream,
} from 'node:fs';
import { link, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/**
 * Uploaded files on disk: in `incoming` while the request is being read, and under a key of their
 * own when a record refers to them.
 */
export interface Storage {
  /** Folder for files that no record refers to yet. */
  incoming: string;
  /** Whether the disk has room for so many bytes, in addition to its reserve. */
  hasRoomFor(bytes: number): Promise<boolean>;
  /** Stores a file of `incoming` under a key, atomically; it stays in `incoming` too. */
  keep(file: string, key: string): Promise<void>;
  path(key: string): string;
  /** The file as a stream, and its size; undefined when there is none. */
  open(key: string): Promise<{ stream: ReadStream; bytes: number } | undefined>;
  remove(key: string): Promise<void>;
  /** Keys of the files that are older than `age_ms`. */
  keysOlderThan(age_ms: number): Promise<string[]>;
  /** Removes files of `incoming` older than `age_ms`, which a killed process left behind. */
  clearIncoming(age_ms: number): Promise<void>;
}

/** The key of the file that says which installation a storage belongs to. */
export const STORAGE_MARK = 'installation';

/** Opens the folder, which is made when absent. Throws if this user may not write in it. */
export function openStorage(folder: string, reserve_bytes: number): Storage {
  const root = resolve(folder);
  const [incoming, stored] = [join(root, 'incoming'), join(root, 'files')];
  for (const path of [root, incoming, stored])
    if (!existsSync(path)) mkdirSync(path, { recursive: true, mode: 0o700 });
  for (const path of [incoming, stored]) accessSync(path, constants.W_OK | constants.X_OK);
  const path = (key: string) => join(stored, key);
  return {
    incoming,
    path,
    hasRoomFor: async (bytes) => {
      const { bavail, bsize } = await statfs(root);
      return bavail * bsize >= bytes + reserve_bytes;
    },
    // A second name, because the transaction that stores it may have to run again.
    keep: (file, key) => link(file, path(key)),
    open: async (key) => {
      const found = await stat(path(key)).catch(absent);
      return found && { stream: createReadStream(path(key)), bytes: found.size };
    },
    remove: (key) => rm(path(key), { force: true }),
    keysOlderThan: (age_ms) => olderThan(stored, age_ms),
    clearIncoming: async (age_ms) => {
      for (const name of await olderThan(incoming, age_ms))
        await rm(join(incoming, name), { force: true });
    },
  };
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

async function olderThan(folder: string, age_ms: number): Promise<string[]> {
  const before = Date.now() - age_ms;
  const names = await readdir(folder);
  const found = await Promise.all(
    names.map(async (name) => ({ name, stats: await stat(join(folder, name)).catch(absent) })),
  );
  return found.flatMap(({ name, stats }) => (stats && stats.mtimeMs < before ? name : []));
}
