import { sql } from '../sql';

/**
 * Identifies the run of a server, which changes with each restart, crash and promotion of a
 * standby. Cached transaction ids mean nothing to another run: transactions that a crash or a
 * failover lost were never committed there, and their ids are used again. A crash that the server
 * recovers from by itself does not change its start time, but resets its statistics.
 */
export const SERVER_RUN = sql`concat(
  pg_postmaster_start_time(), ' ', pg_stat_get_bgwriter_stat_reset_time()
)`;
