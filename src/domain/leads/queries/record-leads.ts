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
