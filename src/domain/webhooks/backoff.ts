const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Milliseconds between an attempt and the next one. */
export const DELAYS_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
/** Upper limit for the Retry-After of a receiver. */
const MAX_RETRY_AFTER_MS = 24 * HOUR;
/**
 * A delay grows by up to this fraction of itself, so that attempts that failed together spread out.
 */
const JITTER = 0.1;

interface FailedAttempt {
  /** Including the failed one. */
  attempts: number;
  retries: number;
  delays: readonly number[];
  /** From 0 to 1. */
  random: number;
  retry_after_ms?: number | undefined;
}

/** Returns the delay after a failed attempt in milliseconds; undefined when it was the last. */
export function computeDelay({
  attempts,
  retries,
  delays,
  random,
  retry_after_ms = 0,
}: FailedAttempt): number | undefined {
  if (attempts > retries) return undefined;
  const delay = delays[Math.min(attempts, delays.length) - 1] ?? 0;
  return Math.round(
    Math.max(delay * (1 + JITTER * random), Math.min(retry_after_ms, MAX_RETRY_AFTER_MS)),
  );
}

/**
 * Returns the milliseconds that a Retry-After header asks for, which is a number of seconds or a
 * date; undefined when it is neither.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND;
  // HTTP dates begin with the name of the day. Date.parse alone accepts almost anything.
  const at = /^(mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
