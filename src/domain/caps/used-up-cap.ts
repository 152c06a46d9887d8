import type { CapOwner, UsedUpCap } from './caps';
import type { Db } from '../../data/db';
import { USED_UP_CAP_OF_BUYER, USED_UP_CAP_OF_GROUP, type CapJson } from './queries/used-up-cap';

/** Parses a cap from JSON. A limit of 0 never has room, whichever window ends. */
export const parseCap = (cap: CapJson | null): UsedUpCap | null =>
  cap && {
    ...cap,
    resets_at: cap.resets_at !== null && cap.limit > 0 ? new Date(cap.resets_at) : null,
  };

/**
 * The cap that keeps a call with up to `revenue` dollars from its owner now; null when every cap
 * has room.
 */
export async function loadUsedUpCap(
  db: Pick<Db, 'sql'>,
  owner: Exclude<CapOwner, { traffic_source_id: unknown }>,
  { revenue, now }: { revenue: number; now: Date },
): Promise<UsedUpCap | null> {
  const [row] =
    'buyer_id' in owner
      ? await db.sql(USED_UP_CAP_OF_BUYER, { id: owner.buyer_id, revenue, now })
      : await db.sql(USED_UP_CAP_OF_GROUP, { id: owner.buyer_group_id, revenue, now });
  return parseCap(row?.cap ?? null);
}
