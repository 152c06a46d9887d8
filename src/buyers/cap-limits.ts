import type { Db } from '../db/tenant';
import { CAPS, METRICS, type CapOwner, type LimitName } from './caps';
import { CHANGE_ZONE } from './queries/cap-limits';

/** Limits by column; null is no limit. */
export type Limits = Partial<Record<LimitName | 'concurrency_cap_limit', number | null>>;

export interface LimitChanges {
  limits: Limits;
  /** The owner's new IANA zone, when it changes. */
  zone?: string | undefined;
  reset_totals?: boolean | undefined;
  now: Date;
}

const LIMIT_NAMES = [...CAPS.map(({ limit }) => limit), 'concurrency_cap_limit' as const];

/** The limits among the fields of a request. */
export function limitsIn(fields: object): Limits {
  const names = new Set<string>(LIMIT_NAMES);
  const limits = Object.entries(fields).filter(
    ([name, value]) => names.has(name) && value !== undefined,
  );
  return Object.fromEntries(limits) as Limits;
}

/** Creates the caps of a new owner, with nothing used. */
export async function openLimits(
  db: Db,
  owner: CapOwner,
  { zone, limits }: Pick<LimitChanges, 'limits'> & { zone: string },
): Promise<void> {
  await db.prisma.callLimit.create({
    data: { company_id: db.company_id, ...owner, zone, ...known(limits) },
    select: { id: true },
  });
}

/** Changes an owner's caps, in the transaction that changes the owner. */
export async function changeLimits(
  db: Db,
  owner: CapOwner,
  { limits, zone, reset_totals, now }: LimitChanges,
): Promise<void> {
  const data = { ...known(limits), ...(reset_totals && totalsReset(now)) };
  if (Object.keys(data).length > 0) await db.prisma.callLimit.updateMany({ where: owner, data });
  if (zone !== undefined)
    await db.sql(CHANGE_ZONE, { buyer_id: null, buyer_group_id: null, ...owner, zone, now });
}

/** Pending use stays: it is not counted in the totals when it is released later. */
const totalsReset = (now: Date) => ({
  ...Object.fromEntries(METRICS.map((metric) => [`${metric}_total_used`, 0])),
  totals_reset_at: now,
});

function known(limits: Limits): Limits {
  const unknown = Object.keys(limits).find((name) => !LIMIT_NAMES.includes(name as LimitName));
  if (unknown !== undefined) throw new Error(`no limit is called ${unknown}`);
  return limits;
}
