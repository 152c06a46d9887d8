import { existsSync, readFileSync } from 'node:fs';

/** Whether a process of this machine runs. */
export function isAlive(pid: number): boolean {
  if (!pid) return false;
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** When a process began, as the system counts; blank where that is not known. */
export function beginningOf(pid: number): string {
  const file = `/proc/${pid}/stat`;
  // The name of the program, in parentheses, may have spaces.
  return existsSync(file)
    ? (readFileSync(file, 'utf8').split(') ').at(-1)!.split(' ')[19] ?? '')
    : '';
}

/**
 * A process that has ended and was not reaped, as happens in containers without an init
 * process.
 */
export function isZombie(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && /\) Z /.test(readFileSync(file, 'utf8'));
}

/** The program of a process, and its arguments; undefined where that is not known. */
export function commandOf(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return undefined;
  }
}
