import { existsSync, readFileSync } from 'node:fs';

export function isAlive(pid: number): boolean {
  if (!pid) return false;
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Start time of a process in clock ticks since boot; blank if unknown. */
export function readStartTime(pid: number): string {
  const file = `/proc/${pid}/stat`;
  // The program name, in parentheses, may contain spaces.
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

/** Program and arguments of a process; undefined if unknown. */
export function readCommand(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return undefined;
  }
}
