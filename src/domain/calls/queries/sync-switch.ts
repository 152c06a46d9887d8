import { sql, statement } from '../../../data/sql';

/** Renews the calls that a switch has (prisma/sql/switches/sync_switch.sql). */
export const SYNC_SWITCH = statement(
  'calls.sync_switch',
  sql`
    SELECT r.renewed, r.ended, r.unknown, r.gone
    FROM sync_switch(
      {company_id}::bigint, {switch_id}::bigint, {now}::timestamptz, {boot_id}, {live}::text[],
      {lease_seconds}::int
    ) r`,
  { prepared: true },
).returning<{ gone: { id: number; seen_at: string }[] }>();
