import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { readdir, rm, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { STORAGE_MARK, type Storage, type StorageSettings } from './storage';

/** The folder of arriving files: on this machine, for every kind of storage. */
export type Incoming = Pick<Storage, 'incoming' | 'hasRoomFor' | 'clearIncoming'>;

/** Opens the folder, which is created when absent. Throws if this user may not write in it. */
export function openIncoming(settings: StorageSettings): Incoming {
  const { reserve_bytes } = settings;
  const incoming = openFolder(settings, 'incoming');
  return {
    incoming,
    hasRoomFor: async (bytes) => {
      const { bavail, bsize } = await statfs(incoming);
      return bavail * bsize >= bytes + reserve_bytes;
    },
    clearIncoming: async (ageMs) => {
      for (const name of await listOlderFiles(incoming, ageMs))
        await rm(join(incoming, name), { force: true });
    },
  };
}

export function openFolder({ folder: root, mark }: StorageSettings, name: string): string {
  const folder = resolve(root, name);
  if (!existsSync(folder)) {
    if (mark !== undefined && !existsSync(markFile(root))) return folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  accessSync(folder, constants.W_OK | constants.X_OK);
  return folder;
}

export const markFile = (folder: string): string => resolve(folder, 'files', STORAGE_MARK);

export async function listOlderFiles(folder: string, ageMs: number): Promise<string[]> {
  const before = Date.now() - ageMs;
  const names = await readdir(folder);
  const files = await Promise.all(
    names.map(async (name) => ({
      name,
      stats: await stat(join(folder, name)).catch(ignoreAbsent),
    })),
  );
  return files.flatMap(({ name, stats }) => (stats && stats.mtimeMs < before ? name : []));
}

export function ignoreAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
