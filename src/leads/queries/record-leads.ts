import { sql, type SqlText } from '../../db/sql';

// What every statement that writes leads does besides: it counts next actions by their hour, and
// records the events of webhooks and of schedules. The functions are in prisma/sql/leads.
//
// Such a statement takes the rows as they were, `l AS was`, under their lock, returns them as it
// has written them, `l AS is_now`, and reads RECORD_CHANGE of both. What nothing reads is not done:
// the end of the statement must need it. tests/db/lead-writers.test.ts walks the statements.

/** Records a change, from a row x with `was` and `is_now`. */
export const RECORD_CHANGE = sql`record_lead_change(x.was, x.is_now)`;

/**
 * The same, where the change may take the lead out of its schedule: `reason` is one of exit_on, or
 * null.
 */
export const recordExit = (reason: SqlText): SqlText =>
  sql`record_lead_change(x.was, leave_schedule(x.is_now, ${reason}))`;

/** The reason where the lead has opted out by the change. */
export const OPTS_OUT = sql`
  CASE WHEN (x.is_now).status = 'opt_out' AND (x.was).status <> 'opt_out' THEN 'opted_out' END`;

/** The reason where the change has connected the lead to another call. */
export const CONNECTS = sql`
  CASE
    WHEN (x.is_now).connected_call_id IS DISTINCT FROM (x.was).connected_call_id
    THEN 'connected'
  END`;
