import { availableParallelism, loadavg } from 'node:os';

/** A wait without a limit of its own fails after this time, before Jest gives up. */
export const FAR_MS = 200_000;

/** A test that waits for such a limit must come to an end. */
const MAX_FACTOR = 20;

/**
 * A limit of time for a machine that does other things as well: three times as long, and longer the
 * more programs wait for each of its processors.
 */
export function patient(ms: number): number {
  const waiting = loadavg()[0]! / availableParallelism();
  return Math.ceil(ms * Math.min(MAX_FACTOR, 3 * Math.max(1, waiting)));
}

/** The DATABASE_TIMEOUT_SECONDS of what is tested: thirty, and more on a busy machine. */
export const secondsForDatabase = (): string =>
  String(Math.min(100, Math.ceil(patient(10_000) / 1000)));

/** Milliseconds that a processor works on something: other programs hardly change them. */
export function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
