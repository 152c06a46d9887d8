import { sql, statement } from '../../../data/sql';

/** Held until the connection is closed. */
export const LOCK_DEMO = statement(
  'installation.lock_demo',
  sql`SELECT pg_advisory_lock({lock}::bigint)`,
  { prepared: false },
);
