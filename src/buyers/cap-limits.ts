import type { Db } from '../db/tenant';
import { CAPS, type CapOwner, type LimitName } from './caps';
import { CHANGE_LIMITS, CHANGE_ZONE, OPEN_LIMITS, RESET_TOTALS } from './queries/cap-limits';

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
  db: Pick<Db, 'sql'>,
  owner: CapOwner,
  { zone, limits }: Pick<LimitChanges, 'limits'> & { zone: string },
): Promise<void> {
  await db.sql(OPEN_LIMITS, { ...NO_OWNER, ...owner, zone, limits: known(limits) });
}

/** Changes an owner's caps, in the transaction that changes the owner. */
export async function changeLimits(
  db: Pick<Db, 'sql'>,
  owner: CapOwner,
  { limits, zone, reset_totals, now }: LimitChanges,
): Promise<void> {
  const of_owner = { ...NO_OWNER, ...owner };
  if (Object.keys(limits).length > 0)
    await db.sql(CHANGE_LIMITS, { ...of_owner, limits: known(limits) });
  if (reset_totals) await db.sql(RESET_TOTALS, { ...of_owner, now });
  if (zone !== undefined) await db.sql(CHANGE_ZONE, { ...of_owner, zone, now });
}

/** An owner is either a buyer or a group. */
const NO_OWNER = { buyer_id: null, buyer_group_id: null };

function known(limits: Limits): Limits {
  const unknown = Object.keys(limits).find((name) => !LIMIT_NAMES.includes(name as LimitName));
  if (unknown !== undefined) throw new Error(`no limit is called ${unknown}`);
  return limits;
}
