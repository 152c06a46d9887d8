import { sql, statement } from '../../db/sql';

/** A lock on the key until the transaction ends; not free while another transaction has it. */
export const LOCK_KEY = statement(
  'http.lock_idempotency_key',
  sql`SELECT pg_try_advisory_xact_lock(hashtextextended({key}, 7481202)) AS free`,
  { prepared: true },
);

/** Of all companies. */
export const DELETE_EXPIRED_ANSWERS = statement(
  'http.delete_expired_answers',
  sql`
    DELETE FROM idempotency_keys
    WHERE created_at < now() - make_interval(hours => {max_age_hours}::int)
  `,
  { prepared: false },
);
