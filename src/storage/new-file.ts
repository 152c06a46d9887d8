import { constants, createWriteStream, writeFileSync, type WriteStream } from 'node:fs';
import { link, open, rename, rm, writeFile } from 'node:fs/promises';

// Files that a process or a command writes. With the flag `wx`, a file that is there already, or a
// link that somebody has put in its place, is an error (EEXIST) and stays as it is.

const NEW_FILE = { flag: 'wx', mode: 0o600 } as const;

/** Disks that have no second name for a file, such as FAT or a share. */
const WITHOUT_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Opens a file that does not exist yet, which only this user may read. */
export const createNewFile = (path: string): WriteStream =>
  createWriteStream(path, { flags: NEW_FILE.flag, mode: NEW_FILE.mode, flush: true });

/** Opens a file of an earlier run, to write what comes after; throws ELOOP for a link. */
export function continueFile(path: string): WriteStream {
  const { O_WRONLY, O_APPEND, O_NOFOLLOW } = constants;
  // The types know names of modes only.
  const flags = (O_WRONLY | O_APPEND | O_NOFOLLOW) as unknown as string;
  return createWriteStream(path, { flags });
}

export const writeNewFile = (path: string, text: string): Promise<void> =>
  writeFile(path, text, NEW_FILE);

export const writeNewFileSync = (path: string, text: string): void =>
  writeFileSync(path, text, NEW_FILE);

/** Gives a complete file its name, which nothing may have yet. Throws EEXIST otherwise. */
export async function nameNewFile(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path);
    await rm(draft);
  } catch (error) {
    if (!WITHOUT_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    // The name is taken by an empty file of this process first, which the draft then replaces.
    await (await open(path, NEW_FILE.flag, NEW_FILE.mode)).close();
    await rename(draft, path);
  }
}
