import { sql, statement } from '../../../data/sql';

/** Dials a buyer again through its next trunk (prisma/sql/calls/change_trunk.sql). */
export const CHANGE_TRUNK = statement(
  'calls.change_trunk',
  sql`
    SELECT outcome
    FROM change_trunk(
      {company_id}::bigint, {call_id}::bigint, {version}, {now}::timestamptz, {attempt}::uuid,
      {fault}, {route}::json, {event}::json, {lease_until}::timestamptz
    )`,
  { prepared: true, records: true },
).returning<{ outcome: 'changed' | 'stale' | 'trunk_full' }>();
