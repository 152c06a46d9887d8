import { sql, statement } from '../../../data/sql';

/** Held until the connection is closed. */
export const LOCK_DEMO = statement(
  'installation.lock_demo',
  sql`SELECT pg_advisory_lock({lock}::bigint)`,
  { prepared: false },
);

/**
 * Plans the statements of calls once, as the connections of requests do: planning them takes longer
 * than running them. A loss of the last calls in a crash is bearable: they are samples.
 */
export const PREPARE_PLAY = statement(
  'demo.prepare_play',
  sql`
    SELECT
      set_config('plan_cache_mode', 'force_generic_plan', true) AS plans,
      set_config('synchronous_commit', 'off', true) AS commits
  `,
  { prepared: true },
);
