import type { Db } from '../db/tenant';
import { METRICS, NO_OWNER, type CapOwner, type Held, type Metric, type Usage } from './caps';
import { RECORD_FOR_OWNER } from './queries/cap-counters';

type Connection = Pick<Db, 'sql'>;

export interface Move {
  owner: CapOwner;
  usage: Usage;
  /** Slots of concurrency: 1 takes one, -1 releases one. */
  concurrency?: number;
  /** Pending until the call settles. */
  hold?: Held;
  /** Number of dials. */
  calls?: number;
  now: Date;
}

const NOTHING_HELD: Held = { connections: 0, conversions: 0, revenue: 0 };

/**
 * Records completed usage (an answer, a conversion, revenue, the end of a call), even when it
 * exceeds a cap. Returns false when the owner does not exist.
 */
export async function recordUsage(db: Connection, move: Move): Promise<boolean> {
  const of_owner = { ...NO_OWNER, ...move.owner };
  return (await db.sql(RECORD_FOR_OWNER, { ...paramsOf(move), ...of_owner })).length > 0;
}

function paramsOf({ usage, concurrency = 0, hold = NOTHING_HELD, calls = 0, now }: Move) {
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
