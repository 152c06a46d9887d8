import type { CapOwner, HeldUsage, UsedUpCap } from '../../src/domain/caps/caps';
import type { Db } from '../../src/data/db';
import { toUsageRows } from '../../src/domain/routing/reserve-buyers';
import { pickUsedUpCap, type FullCaps } from '../../src/domain/caps/engine/used-up-cap';
import { RESERVE_CAPS } from '../../src/domain/caps/queries/reserve-caps';
import type { World } from './world';

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
  const usages = toUsageRows([
    {
      ...NO_OWNER,
      ...ids,
      ...{ connections, conversions, revenue, slots, spacing },
      limit_id: Number(limit.id),
    },
  ]);
  const [row] = await db.sql(RESERVE_CAPS, { usages: JSON.stringify(usages), now });
  return row!.refused === null;
}

/** The cap that keeps a call with up to `revenue` dollars from its owner, as the database has it. */
export async function readUsedUpCap(
  { sql, company }: Pick<World, 'sql' | 'company'>,
  owner: CapOwner,
  { revenue, now }: { revenue: number; now: Date },
): Promise<UsedUpCap | null> {
  const [[column, id]] = Object.entries(owner) as [[string, bigint]];
  const [row] = await sql<{ caps: FullCaps[] }>(
    `SELECT describe_caps(l.company_id, ARRAY[l.id], $3) AS caps
      FROM call_limits l
      WHERE l.company_id = $1 AND l.${column} = $2`,
    [company.id, id, now],
  );
  return pickUsedUpCap(row!.caps[0]!.counters, revenue);
}
