import { sql, statement } from '../../../data/sql';

/** Reserves the caps of a choice, or returns the rows without room and keeps no lock. */
export const TRY_RESERVE_CAPS = statement(
  'routing.try_reserve_caps',
  sql`
    SELECT r.refused::float8[] AS refused, r.caps
    FROM try_reserve_caps({company_id}::bigint, {now}::timestamptz, {usages}::json) r`,
  { prepared: true, nullable: ['refused', 'caps'] },
).returning<{ refused: number[] | null }>();

/** Locks rows of caps in their order until the transaction ends. */
export const LOCK_CAPS = statement(
  'routing.lock_caps',
  sql`SELECT lock_caps({company_id}::bigint, {limit_ids}::bigint[]) IS NULL AS is_locked`,
  { prepared: true },
);
