import { constants, createWriteStream, writeFileSync, type WriteStream } from 'node:fs';
import { link, open, rename, rm, writeFile } from 'node:fs/promises';

// Files that a process or a command writes. With the flag `wx`, an existing file, or a link that
// another user has put at the path, is an error (EEXIST) and stays unchanged.

const NEW_FILE = { flag: 'wx', mode: 0o600 } as const;

/** Errors of file systems without hard links, such as FAT or a share. */
const WITHOUT_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Opens a file that does not exist yet, which only this user may read. */
export const createNewFile = (path: string): WriteStream =>
  createWriteStream(path, { flags: NEW_FILE.flag, mode: NEW_FILE.mode, flush: true });

/** Opens a file of an earlier run for appending; throws ELOOP for a link. */
export function continueFile(path: string): WriteStream {
  const { O_WRONLY, O_APPEND, O_NOFOLLOW } = constants;
  // The types accept only names of modes.
  const flags = (O_WRONLY | O_APPEND | O_NOFOLLOW) as unknown as string;
  return createWriteStream(path, { flags });
}

export const writeNewFile = (path: string, text: string): Promise<void> =>
  writeFile(path, text, NEW_FILE);

export const writeNewFileSync = (path: string, text: string): void =>
  writeFileSync(path, text, NEW_FILE);

/** Gives a complete file its name, which must be free. Throws EEXIST otherwise. */
export async function nameNewFile(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path);
    await rm(draft);
  } catch (error) {
    if (!WITHOUT_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    // An empty file of this process reserves the name first; the draft then replaces it.
    await (await open(path, NEW_FILE.flag, NEW_FILE.mode)).close();
    await rename(draft, path);
  }
}
