import type { Db } from '../../data/db';
import { NO_OWNER, type CapOwner, type HeldUsage, type Usage } from './caps';
import { CHANGE_CAPS_OF_OWNER } from './queries/reserve-caps';

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

/**
 * Records completed usage (an answer, a conversion, revenue, the end of a call), even when it
 * exceeds a cap. Returns false when the owner does not exist.
 */
export async function recordUsage(
  db: Connection,
  { owner, usage, concurrency, hold, calls, now }: UsageRecord,
): Promise<boolean> {
  const change = {
    ...usage,
    ...{ calls, slots: concurrency },
    held_connections: hold?.connections,
    held_conversions: hold?.conversions,
    held_revenue: hold?.revenue,
  };
  const ofOwner = { ...NO_OWNER, ...owner };
  const [row] = await db.sql(CHANGE_CAPS_OF_OWNER, {
    ...ofOwner,
    change: JSON.stringify(change),
    now,
  });
  return row!.is_changed!;
}
