import { resolve } from 'node:path';

/** Why a process cannot start or a command cannot run: a sentence for the operator, no stack. */
export class StartError extends Error {}

const FOLDER_FAULTS: Record<string, string> = {
  EACCES: 'this user has no right to write there',
  EPERM: 'this user has no right to write there',
  EROFS: 'its disk is read-only',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'it is a file',
  ENOENT: 'it cannot be made there',
  ENOSPC: 'its disk is full',
};

/**
 * The reason why the folder that a variable names cannot be used; an error that is about something
 * else is returned unchanged.
 */
export function folderFault(variable: string, folder: string, error: unknown): unknown {
  const { code = '', path } = error as NodeJS.ErrnoException;
  const fault = FOLDER_FAULTS[code];
  const root = resolve(folder);
  if (!fault || !path || !resolve(path).startsWith(root)) return error;
  return new StartError(
    `${variable}: the folder ${root} cannot be used, because ${fault} (${code}); ` +
      'choose one in which this user may write.',
  );
}
