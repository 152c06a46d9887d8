import { sql, statement } from '../../../data/sql';

/** Writes what an event changes of a call (prisma/sql/calls/apply_event.sql). */
export const APPLY_EVENT = statement(
  'calls.apply_event',
  sql`
    SELECT r.outcome, r.buyer_paid, r.source_paid
    FROM apply_event(
      {company_id}::bigint, {call_id}::bigint, {version}, {now}::timestamptz, {progress}::json,
      {attempts}::json, {events}::json, {dollars}::json
    ) r`,
  { prepared: true, records: true, nullable: ['buyer_paid', 'source_paid'] },
).returning<{ outcome: 'written' | 'stale' | 'paid_otherwise' }>();
