import { sql, type SqlText } from '../../../data/sql';

// Every statement that writes leads also counts next actions by their hour, and records the events
// of webhooks and schedules. The functions are in prisma/sql/leads.
//
// Such a statement takes the old rows, `l AS was`, under their lock, returns the written rows, `l
// AS is_now`, and reads RECORD_CHANGE of both. PostgreSQL does not run an expression that nothing
// reads: the end of the statement must need it. tests/data/lead-writers.test.ts checks all
// statements.

export const RECORD_CHANGE = sql`record_lead_change(x.was, x.is_now)`;

/**
 * Like RECORD_CHANGE, for a change that may take the lead out of its schedule: `reason` is a value
 * of exit_on, or null.
 */
export const recordExit = (reason: SqlText): SqlText =>
  sql`record_lead_change(x.was, leave_schedule(x.is_now, ${reason}))`;

/** The exit reason if the change opted the lead out. */
export const OPT_OUT_REASON = sql`
  CASE WHEN (x.is_now).status = 'opt_out' AND (x.was).status <> 'opt_out' THEN 'opted_out' END`;

/** The exit reason if the change connected the lead to another call. */
export const CONNECTION_REASON = sql`
  CASE
    WHEN (x.is_now).connected_call_id IS DISTINCT FROM (x.was).connected_call_id
    THEN 'connected'
  END`;
