import fc from 'fast-check';
import { DELAYS_MS, parseRetryAfter, computeDelay } from '../../../src/domain/webhooks/backoff';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const usual = { retries: 9, delays: DELAYS_MS, random: 0 };

test('ten attempts: at once, after 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h', () => {
  const waits = Array.from({ length: 10 }, (_, n) => computeDelay({ ...usual, attempts: n + 1 }));
  expect(waits).toEqual([
    5_000,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    DAY,
    undefined,
  ]);
});

test('a delay is never too short, and too long by at most a tenth', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempts, random) => {
        const [wait, delay] = [
          computeDelay({ ...usual, attempts, random })!,
          DELAYS_MS[attempts - 1]!,
        ];
        return wait >= delay && wait <= Math.round(delay * 1.1);
      },
    ),
  );
});

test('Retry-After is seconds or a date, counts up to a day, and never shortens a delay', () => {
  const now = new Date('2026-05-01T12:00:00Z');
  expect(
    ['120', ' 0 ', 'Fri, 01 May 2026 12:02:00 GMT', 'Fri, 01 May 2026 11:00:00 GMT'].map((header) =>
      parseRetryAfter(header, now),
    ),
  ).toEqual([120_000, 0, 120_000, 0]);
  expect(
    [undefined, '', '-5', '1.5', 'soon', '2027-01-01', 'Fri, never'].map((header) =>
      parseRetryAfter(header, now),
    ),
  ).toEqual(Array(7).fill(undefined));
  expect(computeDelay({ ...usual, attempts: 1, retry_after_ms: 120_000 })).toBe(120_000);
  expect(computeDelay({ ...usual, attempts: 1, retry_after_ms: 99 * DAY })).toBe(DAY);
  expect(computeDelay({ ...usual, attempts: 3, retry_after_ms: 1_000 })).toBe(30 * MINUTE);
  expect(computeDelay({ ...usual, attempts: 10, retry_after_ms: 1_000 })).toBe(undefined);
});
