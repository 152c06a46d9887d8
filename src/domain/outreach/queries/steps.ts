import { sql, statement } from '../../../data/sql';

/** Writes what steps have changed (prisma/sql/outreach/record_steps.sql). */
export const RECORD_STEPS = statement(
  'outreach.record_steps',
  sql`
    SELECT r.company_id::text, r.lead_log_id::text
    FROM record_steps({batches}::json, {now}::timestamptz) r`,
  { prepared: true, records: true },
);
