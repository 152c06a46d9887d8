import type { Db } from '../../data/db';
import { METRICS, NO_OWNER, type CapOwner, type HeldUsage, type Metric, type Usage } from './caps';
import { RECORD_FOR_OWNER } from './queries/cap-counters';

type Connection = Pick<Db, 'sql'>;

export interface UsageRecord {
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

const NOTHING_HELD: HeldUsage = { connections: 0, conversions: 0, revenue: 0 };

/**
 * Records completed usage (an answer, a conversion, revenue, the end of a call), even when it
 * exceeds a cap. Returns false when the owner does not exist.
 */
export async function recordUsage(db: Connection, move: UsageRecord): Promise<boolean> {
  const ofOwner = { ...NO_OWNER, ...move.owner };
  return (await db.sql(RECORD_FOR_OWNER, { ...toParameters(move), ...ofOwner })).length > 0;
}

function toParameters({
  usage,
  concurrency = 0,
  hold = NOTHING_HELD,
  calls = 0,
  now,
}: UsageRecord) {
  const added = Object.fromEntries(METRICS.map((metric) => [metric, usage[metric] ?? 0]));
  return {
    ...(added as Record<Metric, number>),
    slots: concurrency,
    held_connections: hold.connections,
    held_conversions: hold.conversions,
    held_revenue: hold.revenue,
    calls,
    now,
  };
}
