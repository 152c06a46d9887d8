import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';

// Deletes records of a company that are older than `before`, some at a time, with their parts. Each
// list of ids uses the index of its table by company and time.

export const LIST_COMPANIES = statement(
  'retention.list_companies',
  sql`SELECT id FROM companies ORDER BY id`,
  { prepared: false },
);

/** Calls that have ended. */
export const LIST_OLD_CALLS = statement(
  'retention.list_old_calls',
  sql`
    SELECT id::text
    FROM calls
    WHERE company_id = {company_id} AND deleted_at IS NULL
      AND created_at < {before}::timestamptz AND ended_at < {before}::timestamptz
    ORDER BY created_at, id
    LIMIT {limit}::int
  `,
  { prepared: false },
);

/** Leads that have ended, and have not changed since. */
export const LIST_OLD_LEADS = statement(
  'retention.list_old_leads',
  sql`
    SELECT id::text
    FROM leads
    WHERE company_id = {company_id} AND deleted_at IS NULL
      AND updated_at < {before}::timestamptz AND NOT is_live
    ORDER BY updated_at, id
    LIMIT {limit}::int
  `,
  { prepared: false },
);

export const LIST_DELETED_LEADS = statement(
  'retention.list_deleted_leads',
  sql`
    SELECT id::text
    FROM leads
    WHERE company_id = {company_id} AND deleted_at < {before}::timestamptz
    ORDER BY deleted_at, id
    LIMIT {limit}::int
  `,
  { prepared: false },
);

export const DELETE_TEXTS = statement(
  'retention.delete_texts',
  sql`
    WITH old AS (
      SELECT id
      FROM text_messages
      WHERE company_id = {company_id} AND deleted_at IS NULL
        AND created_at < {before}::timestamptz AND status <> 'sending'
      ORDER BY created_at, id
      LIMIT {limit}::int
      FOR UPDATE SKIP LOCKED
    ),
    deleted AS (
      DELETE FROM text_messages t
      USING old
      WHERE t.company_id = {company_id} AND t.id = old.id
      RETURNING t.company_id
    ),
    counted AS (${countRows('text_messages', 'deleted', -1)})
    SELECT count(*)::int AS deleted FROM deleted
  `,
  { prepared: false },
);

export const DELETE_EMAILS = statement(
  'retention.delete_emails',
  sql`
    WITH old AS (
      SELECT id
      FROM emails
      WHERE company_id = {company_id} AND deleted_at IS NULL
        AND created_at < {before}::timestamptz AND status <> 'sending'
      ORDER BY created_at, id
      LIMIT {limit}::int
      FOR UPDATE SKIP LOCKED
    ),
    deleted AS (
      DELETE FROM emails e
      USING old
      WHERE e.company_id = {company_id} AND e.id = old.id
      RETURNING e.company_id
    ),
    counted AS (${countRows('emails', 'deleted', -1)})
    SELECT count(*)::int AS deleted FROM deleted
  `,
  { prepared: false },
);

export const DELETE_CHANGE_LOGS = statement(
  'retention.delete_change_logs',
  sql`
    WITH old AS (
      SELECT id
      FROM change_logs
      WHERE company_id = {company_id} AND created_at < {before}::timestamptz
      ORDER BY created_at, id
      LIMIT {limit}::int
      FOR UPDATE SKIP LOCKED
    ),
    deleted AS (
      DELETE FROM change_logs c
      USING old
      WHERE c.company_id = {company_id} AND c.id = old.id
      RETURNING c.company_id
    ),
    counted AS (${countRows('change_logs', 'deleted', -1)})
    SELECT count(*)::int AS deleted FROM deleted
  `,
  { prepared: false },
);
