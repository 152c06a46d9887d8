import { sql, statement } from '../../../data/sql';

/** A lock on the key until the transaction ends; not free while another transaction has it. */
export const LOCK_KEY = statement(
  'http.lock_idempotency_key',
  sql`SELECT pg_try_advisory_xact_lock(hashtextextended({key}, 7481202)) AS free`,
  { prepared: true },
);
