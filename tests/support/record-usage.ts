import type { Db } from '../../src/data/db';
import { template } from '../../src/data/statement';
import { NO_OWNER, type CapOwner, type HeldUsage, type Usage } from '../../src/domain/caps/caps';

const CHANGE_CAPS = template(
  `SELECT count(lock_caps(l.company_id, ARRAY[l.id])),
    count(change_caps(
      l.company_id, {now}::timestamptz,
      json_build_array({change}::jsonb || jsonb_build_object('limit_id', l.id))
    ))
  FROM call_limits l
  WHERE l.company_id = {company_id}
    AND (
      l.buyer_id = {buyer_id}::bigint OR l.buyer_group_id = {buyer_group_id}::bigint
      OR l.traffic_source_id = {traffic_source_id}::bigint
    )`,
  { prepared: false },
);

interface UsageRecord {
  owner: CapOwner;
  usage: Usage;
  /** Slots of concurrency: 1 takes one, -1 releases one. */
  concurrency?: number;
  /** Pending until the call settles. */
  hold?: HeldUsage;
  /** Number of dials. */
  calls?: number;
  now: Date;
}

/** Counts what has happened, even when it exceeds a cap, as procedures do. */
export async function recordUsage(
  { query, company_id }: Pick<Db, 'query' | 'company_id'>,
  { owner, usage, concurrency, hold, calls, now }: UsageRecord,
): Promise<void> {
  const change = {
    ...usage,
    ...{ calls, slots: concurrency, charge: usage.revenue },
    held_connections: hold?.connections,
    held_conversions: hold?.conversions,
    held_revenue: hold?.revenue,
  };
  const params = { ...NO_OWNER, ...owner, change: JSON.stringify(change), company_id, now };
  await query(CHANGE_CAPS(params));
}
