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
