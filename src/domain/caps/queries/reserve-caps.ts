import { sql, statement } from '../../../data/sql';
import type { FullCaps } from '../engine/used-up-cap';

/** Reserves the caps of a choice, or returns those without room and keeps no lock. */
export const RESERVE_CAPS = statement(
  'caps.reserve_caps',
  sql`
    SELECT r.refused, r.caps
    FROM reserve_caps({company_id}::bigint, {now}::timestamptz, {usages}::json) r`,
  { prepared: true, nullable: ['refused', 'caps'] },
).returning<{ refused: FullCaps[] | null }>();

/** Counts what has happened, even when it exceeds a cap. */
export const CHANGE_CAPS_OF_OWNER = statement(
  'caps.change_caps_of_owner',
  sql`
    SELECT change_caps_of_owner(
      {company_id}::bigint, {now}::timestamptz, {buyer_id}::bigint, {buyer_group_id}::bigint,
      {traffic_source_id}::bigint, {change}::jsonb
    ) AS is_changed`,
  { prepared: true },
);
