import { sql } from './sql';

/**
 * Names the run of a server: another after each restart, crash and promotion of a standby. Ids of
 * transactions that a process remembers mean nothing to another run: what a crash or a failover
 * lost was never committed there, and its ids are given again. A crash that the server recovers
 * from by itself does not change the time of its start, but resets its statistics.
 */
export const SERVER_RUN = sql`concat(
  pg_postmaster_start_time(), ' ', pg_stat_get_bgwriter_stat_reset_time()
)`;
