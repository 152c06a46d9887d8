const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Between an attempt and the next one, milliseconds. */
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
/** The longest that a receiver can put an attempt off. */
const LONGEST_MS = 24 * HOUR;
/** By so much of itself at most is a delay longer, so that what failed together does not come back together. */
const JITTER = 0.1;

interface Failed {
  /** How many there were, this one among them. */
  attempts: number;
  /** How many there may be beyond the first. */
  retries: number;
  delays: readonly number[];
  /** From 0 to 1. */
  random: number;
  /** What the receiver has asked for. */
  retry_after_ms?: number | undefined;
}

/** How long to wait after a failed attempt, in milliseconds; undefined when it was the last. */
export function waitAfter({
  attempts,
  retries,
  delays,
  random,
  retry_after_ms = 0,
}: Failed): number | undefined {
  if (attempts > retries) return undefined;
  const delay = delays[Math.min(attempts, delays.length) - 1] ?? 0;
  return Math.round(Math.max(delay * (1 + JITTER * random), Math.min(retry_after_ms, LONGEST_MS)));
}

/** Milliseconds that a Retry-After asks for, seconds or a date; undefined when it is neither. */
export function retryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND;
  // Dates of HTTP begin with the name of the day: Date.parse would take almost anything.
  const at = /^(mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
