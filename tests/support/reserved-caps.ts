import type { CapOwner, HeldUsage } from '../../src/domain/caps/caps';
import type { Db } from '../../src/data/db';
import { toUsagesJson } from '../../src/domain/routing/cap-usage';
import { TRY_RESERVE_CAPS } from '../../src/domain/caps/queries/reserve-caps';

const NO_OWNER = { buyer_id: null, buyer_group_id: null, traffic_source_id: null };

/** Usage of a call at the caps of one owner, in addition to its attempt. */
type OwnerUsage = Partial<HeldUsage> & { slots?: 0 | 1; spacing?: number };

/** Reserves a call's use of all caps of one owner; false where one has no room. */
export async function reserveForOwner(
  db: Pick<Db, 'sql' | 'prisma'>,
  owner: CapOwner,
  { slots = 0, spacing = 0, connections = 0, conversions = 0, revenue = 0 }: OwnerUsage,
  now: Date,
): Promise<boolean> {
  const limit = await db.prisma.callLimit.findFirstOrThrow({ where: owner, select: { id: true } });
  const ids = Object.fromEntries(Object.entries(owner).map(([key, id]) => [key, Number(id)]));
  const usages = toUsagesJson([
    {
      ...NO_OWNER,
      ...ids,
      ...{ connections, conversions, revenue, slots, spacing },
      limit_id: Number(limit.id),
    },
  ]);
  const [row] = await db.sql(TRY_RESERVE_CAPS, { usages, now });
  return row!.refused === null;
}
