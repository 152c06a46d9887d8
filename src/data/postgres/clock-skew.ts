import { recentCheck } from '../../platform/recent-check';
import { StartError } from '../../platform/start-error';
import { DATABASE_TIME } from './queries/clock-skew';
import type { Sql } from '../sql';

// A host whose clock is wrong would end calls in progress, contact leads at night, and delete
// recent records for good. Its clock is compared with that of the database, which all hosts share.

/** Machines that synchronize their clocks differ by milliseconds. */
const MAX_SKEW_SECONDS = 30;
const CHECK_EVERY_MS = 5_000;

/** Seconds by which this host is at least ahead of the database; negative if it is behind. */
export async function measureClockSkew(sql: Sql): Promise<number> {
  const askedAt = Date.now();
  const [row] = await sql(DATABASE_TIME, {});
  const answeredAt = Date.now();
  const at = row!.at.getTime();
  // The database read its clock between the two.
  if (at < askedAt) return (askedAt - at) / 1000;
  return at > answeredAt ? (answeredAt - at) / 1000 : 0;
}

/** Returns a message if the clock of this host is wrong. */
export async function findClockFault(sql: Sql): Promise<string | undefined> {
  const skew = Math.round(await measureClockSkew(sql));
  if (Math.abs(skew) <= MAX_SKEW_SECONDS) return undefined;
  return (
    `The clock of this machine is ${Math.abs(skew)} seconds ${skew > 0 ? 'ahead of' : 'behind'} ` +
    "the database's: synchronize both, for example by NTP."
  );
}

export async function requireRightClock(sql: Sql): Promise<void> {
  const fault = await findClockFault(sql);
  if (fault) throw new StartError(fault);
}

/** Checks at most every few seconds, for callers that run often. */
export const createClockGuard = (sql: Sql): (() => Promise<void>) =>
  recentCheck(CHECK_EVERY_MS, () => requireRightClock(sql));
