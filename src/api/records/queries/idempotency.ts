import { sql, statement } from '../../../data/sql';

/** A lock on the key until the transaction ends; not free while another transaction has it. */
export const LOCK_KEY = statement(
  'http.lock_idempotency_key',
  sql`SELECT pg_try_advisory_xact_lock(hashtextextended({key}, 7481202)) AS free`,
  { prepared: true },
);

/** Deletes a portion, over all companies. */
export const DELETE_EXPIRED_ANSWERS = statement(
  'http.delete_expired_answers',
  sql`
    WITH expired AS (
      SELECT company_id, key
      FROM idempotency_keys
      WHERE created_at < now() - make_interval(hours => {max_age_hours}::int)
      ORDER BY created_at
      LIMIT {max}::int
      FOR UPDATE SKIP LOCKED
    ),
    deleted AS (
      DELETE FROM idempotency_keys k
      USING expired e
      WHERE k.company_id = e.company_id AND k.key = e.key
      RETURNING k.company_id
    )
    SELECT count(*)::int AS deleted FROM deleted
  `,
  { prepared: false },
);
