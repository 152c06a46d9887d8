import { sql, type SqlText } from '../../../data/sql';

// Every statement that writes leads also counts next actions by their hour, and records the events
// of webhooks and schedules. The functions are in prisma/sql/leads. PostgreSQL does not run an
// expression that nothing reads: the end of the statement must need what they return.
// tests/data/lead-writers.test.ts checks all statements.

/**
 * A statement that changes leads (prisma/sql/leads/store_leads.sql) and returns their ids. `rows`
 * selects each as it was (`was`), under its lock, and as it becomes (`is_now`).
 */
export const storeLeads = (rows: SqlText, log: SqlText = LOGGED): SqlText => sql`
  SELECT s.id
  FROM (
    SELECT array_agg(x.was) AS old_rows, array_agg(x.is_now) AS new_rows
    FROM (${rows}) x
  ) c
  CROSS JOIN LATERAL store_leads(c.old_rows, c.new_rows, ${log}) s`;

const LOGGED = sql`{event}, {message}, NULL`;
export const NOT_LOGGED = sql`NULL, NULL, NULL`;

/** Records the change of a lead that a statement has written: `l AS was`, `l AS is_now`. */
export const RECORD_CHANGE = sql`record_lead_change(x.was, x.is_now)`;

/**
 * Like RECORD_CHANGE, for a change that may take the lead out of its schedule: `reason` is a value
 * of exit_on, or null.
 */
export const recordExit = (reason: SqlText): SqlText =>
  sql`record_lead_change(x.was, leave_schedule(x.is_now, ${reason}))`;
