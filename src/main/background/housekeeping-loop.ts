import { endStaleCalls } from '../../domain/calls/end-stale-calls';
import type { Deps } from '../../domain/deps';
import { forEach } from '../../data/jobs/each';
import { repeat, type Running } from '../../data/jobs/loop';
import { applyCalls } from '../../domain/leads/apply-calls';
import { expireReservations } from '../../domain/routing/expire-reservations';

const EVERY_MS = 1_000;
const PAUSE_MS = 5_000;

/**
 * Ends calls that are no longer reported, releases reservations that have expired, and applies
 * calls to their leads, until it is stopped. Any number of processes may do so.
 */
export function startHousekeeping(deps: Deps): Running {
  const work = async () => {
    const { pool } = deps.database;
    const works = [
      () => endStaleCalls(deps),
      () => expireReservations(pool, deps.clock()),
      () => applyCalls(pool, deps.clock()),
    ];
    await forEach(works, (task) => task());
    return false;
  };
  return repeat(deps.log, {
    sql: deps.database.sql,
    work,
    every_ms: EVERY_MS,
    pause_ms: PAUSE_MS,
    failure: 'housekeeping failed and will be tried again',
  });
}
