import { readFileSync, realpathSync, rmSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readCommand, isAlive, isZombie } from './process-state';

// PostgreSQL records in a file of its data folder that it runs there. The file of a killed server
// stays, and its pid may then belong to any other process.

const SETTLE_MS = 60_000;
const PAUSE_MS = 100;

/** A PostgreSQL that runs, starts or recovers on a folder. */
export interface Postmaster {
  port: number;
  is_ready: boolean;
}

export function readPostmaster(folder: string): Postmaster | undefined {
  const [pid, , , port, , , , status] = readLock(folder);
  if (!isPostmaster(Number(pid), folder)) return undefined;
  return { port: Number(port), is_ready: status?.trim() === 'ready' };
}

/** Waits up to a minute while a PostgreSQL that another process has started is not ready. */
export async function waitUntilReady(folder: string): Promise<void> {
  const limit = Date.now() + SETTLE_MS;
  while (readPostmaster(folder)?.is_ready === false && Date.now() < limit) await pause(PAUSE_MS);
}

/**
 * Removes the file of a PostgreSQL that has ended, if another process or a zombie has its pid:
 * PostgreSQL would mistake that for itself and not start.
 */
export function clearLock(folder: string): void {
  const pid = Number(readLock(folder)[0]);
  if ((isAlive(pid) || isZombie(pid)) && !isPostmaster(pid, folder)) rmSync(toLockPath(folder));
}

const toLockPath = (folder: string) => join(folder, 'postmaster.pid');

function readLock(folder: string): string[] {
  try {
    return readFileSync(toLockPath(folder), 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** If the system does not show the command of a process, its pid alone counts. */
function isPostmaster(pid: number, folder: string): boolean {
  if (!isAlive(pid)) return false;
  const command = readCommand(pid);
  if (!command) return true;
  const at = command.indexOf('-D');
  const dataFolder = at < 0 ? '' : command[at + 1]!;
  // A relative path proves nothing: PostgreSQL has changed to its folder.
  return (
    basename(command[0]!) === 'postgres' && (!isAbsolute(dataFolder) || isSame(dataFolder, folder))
  );
}

function isSame(first: string, second: string): boolean {
  try {
    return realpathSync(first) === realpathSync(second);
  } catch {
    return false;
  }
}
