import { createReadStream, existsSync, mkdirSync, type ReadStream } from 'node:fs';
import { link, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Uploaded files on disk: `incoming` while a request is still read, under a key of their own once a record holds them. */
export interface Storage {
  /** Folder for files that nothing holds yet. */
  incoming: string;
  /** Whether the disk has room for so many bytes and its reserve besides. */
  hasRoomFor(bytes: number): Promise<boolean>;
  /** Takes a file of `incoming` into keeping, and leaves the name it had there. On the same disk: it is there wholly, or not at all. */
  keep(file: string, key: string): Promise<void>;
  path(key: string): string;
  /** The file as a stream, and how many bytes it has; undefined when it is not there. */
  open(key: string): Promise<{ stream: ReadStream; bytes: number } | undefined>;
  remove(key: string): Promise<void>;
  /** Keys of files kept for longer than `age_ms`. */
  keysOlderThan(age_ms: number): Promise<string[]>;
  /** Removes files of `incoming` that a process left behind when it was killed. */
  clearIncoming(age_ms: number): Promise<void>;
}

export function openStorage(folder: string, reserve_bytes: number): Storage {
  const root = resolve(folder);
  const [incoming, kept] = [join(root, 'incoming'), join(root, 'files')];
  for (const path of [root, incoming, kept])
    if (!existsSync(path)) mkdirSync(path, { recursive: true, mode: 0o700 });
  const path = (key: string) => join(kept, key);
  return {
    incoming,
    path,
    hasRoomFor: async (bytes) => {
      const { bavail, bsize } = await statfs(root);
      return bavail * bsize >= bytes + reserve_bytes;
    },
    // A second name: the transaction that this is part of may have to run again.
    keep: (file, key) => link(file, path(key)),
    open: async (key) => {
      const found = await stat(path(key)).catch(absent);
      return found && { stream: createReadStream(path(key)), bytes: found.size };
    },
    remove: (key) => rm(path(key), { force: true }),
    keysOlderThan: (age_ms) => olderThan(kept, age_ms),
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
