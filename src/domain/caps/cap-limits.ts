import type { Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import { fault, HttpProblem, type FieldFaults } from '../../platform/errors';
import { CAPS, NO_OWNER, type CapOwner, type LimitName } from './caps';
import { listRaisedLimits } from './hourly-limits';
import {
  CHANGE_LIMITS,
  CHANGE_ZONE,
  FIND_RAISED_LIMITS,
  KEEP_NETWORK_HOURS,
  LOWER_LIMITS,
  OPEN_LIMITS,
  OPEN_LIMITS_OF_SOURCE,
  READ_NETWORK_HOURS,
  RESET_TOTALS,
} from './queries/cap-limits';

/** Limits by column; null is no limit. */
export type Limits = Partial<Record<LimitName | 'concurrency_cap_limit', number | null>>;

export interface LimitChanges {
  limits: Limits;
  /** A caller that may raise limits also sets the ceiling for callers that may not. */
  may_raise: boolean;
  /** The new IANA zone, when it changes. */
  zone?: string | undefined;
  reset_totals?: boolean | undefined;
  now: Date;
}

const LIMIT_NAMES = [...CAPS.map(({ limit }) => limit), 'concurrency_cap_limit' as const];

const NAMES = new Set<string>(LIMIT_NAMES);
export const isLimit = (name: string): boolean => NAMES.has(name);

export function pickLimits(fields: object): Limits {
  const limits = Object.entries(fields).filter(
    ([name, value]) => isLimit(name) && value !== undefined,
  );
  return Object.fromEntries(limits) as Limits;
}

/**
 * Limits of an owner created by a caller that may only lower limits: no ceiling applies to them.
 */
const NO_CEILING = Object.fromEntries(
  [...LIMIT_NAMES, 'business_hours'].map((name) => [name, null]),
);

/** Creates the caps of a new owner, with all counters at 0. */
export async function openLimits(
  db: Pick<Db, 'sql'>,
  owner: CapOwner,
  { zone, limits, may_raise }: Pick<LimitChanges, 'limits' | 'may_raise'> & { zone: string },
): Promise<void> {
  const networkLimits = JSON.stringify(may_raise ? {} : NO_CEILING);
  await db.sql(OPEN_LIMITS, {
    ...NO_OWNER,
    ...owner,
    zone,
    network_limits: networkLimits,
    limits: assertLimitNames(limits),
  });
}

/**
 * Changes the caps of an owner, in the transaction that changes the owner. Throws 422 when a caller
 * without the permission raises a limit.
 */
export async function changeLimits(
  db: Pick<Db, 'sql'>,
  owner: CapOwner,
  { limits, may_raise, zone, reset_totals, now }: LimitChanges,
): Promise<void> {
  const ofOwner = { ...NO_OWNER, ...owner };
  if (Object.keys(limits).length > 0)
    await (may_raise
      ? db.sql(CHANGE_LIMITS, { ...ofOwner, limits: assertLimitNames(limits) })
      : lowerLimits(db, ofOwner, assertLimitNames(limits)));
  if (reset_totals) await db.sql(RESET_TOTALS, { ...ofOwner, now });
  if (zone !== undefined) await db.sql(CHANGE_ZONE, { ...ofOwner, zone, now });
}

/**
 * Sets the limits of a traffic source. Its row of caps is created with the first limit, so that
 * calls of a source without limits never wait for a row. Earlier usage does not count.
 */
export async function setSourceLimits(
  db: Pick<Db, 'sql'>,
  trafficSourceId: bigint,
  { zone, is_moved, ...changes }: SourceLimitChanges,
): Promise<void> {
  const { limits, now } = changes;
  if (Object.values(limits).some((limit) => limit !== null))
    await db.sql(OPEN_LIMITS_OF_SOURCE, { traffic_source_id: trafficSourceId, zone, now });
  const moved = is_moved ? { zone } : {};
  await changeLimits(
    db,
    { traffic_source_id: trafficSourceId },
    { ...changes, ...moved, may_raise: true },
  );
}

interface SourceLimitChanges extends Omit<LimitChanges, 'may_raise'> {
  /** IANA. */
  zone: string;
  /** True when the zone differs from the stored one. */
  is_moved: boolean;
}

type Owner = Record<keyof typeof NO_OWNER, bigint | number | null>;

/** The caps as a part of the statement that writes their owner (src/data/projection/write.ts). */
const buildCapsPart = (owner: keyof typeof NO_OWNER) => ({
  alias: 'l',
  table: 'call_limits',
  owner,
});

/** Like `openLimits`, for a caller that may raise limits. */
export const insertCaps = (owner: keyof typeof NO_OWNER, zone: string, limits: Limits) => ({
  ...buildCapsPart(owner),
  row: { zone, ...assertLimitNames(limits) },
});

/** Like `changeLimits`, for a caller that may raise limits: a changed limit loses its ceiling. */
export const updateCaps = (owner: keyof typeof NO_OWNER, limits: Limits) => ({
  ...buildCapsPart(owner),
  row: assertLimitNames(limits),
  computed: {
    network_limits: `l.network_limits - ARRAY['${Object.keys(limits).join(`', '`)}']`,
    changed_by: 'pg_current_xact_id()',
  },
});

async function lowerLimits(db: Pick<Db, 'sql'>, owner: Owner, limits: Limits): Promise<void> {
  if ((await db.sql(LOWER_LIMITS, { ...owner, limits })).length > 0) return;
  const raised = await db.sql(FIND_RAISED_LIMITS, { ...owner, limits });
  const isGroup = owner.buyer_group_id !== null;
  // In the contract the concurrency limit of a group is `concurrency_cap`, that of a buyer
  // `concurrency_cap_limit`.
  const toField = (name: string) =>
    isGroup && name === 'concurrency_cap_limit' ? 'concurrency_cap' : name;
  throw buildLimitProblem(
    raised.map(({ name, maximum }) => [toField(name), maximum]),
    isGroup ? 'buyer_groups:routing' : 'buyers:routing',
  );
}

/**
 * Checks the hourly limits of new business hours of a locked buyer against the ceiling that callers
 * with the permission have set. Throws 422 when a caller without it raises a limit.
 */
export async function enforceHourlyCeiling(
  db: Pick<Db, 'sql'>,
  buyerId: bigint,
  { hours, may_raise }: { hours: readonly Schemas['BusinessHours'][]; may_raise: boolean },
): Promise<void> {
  if (may_raise) {
    await db.sql(KEEP_NETWORK_HOURS, { buyer_id: buyerId, hours: null });
    return;
  }
  const [{ hours: network } = { hours: null }] = await db.sql(READ_NETWORK_HOURS, {
    buyer_id: buyerId,
  });
  if (network === null) return;
  const raised = listRaisedLimits(network, hours);
  if (raised.length > 0)
    throw buildLimitProblem(
      raised.map(({ position, metric, max }) => [
        position === undefined
          ? 'business_hours_schedule'
          : `business_hours_schedule.${position}.${metric}_hourly_limit`,
        max,
      ]),
      'buyers:routing',
    );
  await db.sql(KEEP_NETWORK_HOURS, { buyer_id: buyerId, hours: JSON.stringify(network) });
}

function buildLimitProblem(
  raised: readonly [field: string, max: number][],
  needed: string,
): HttpProblem {
  const faults: FieldFaults = Object.create(null);
  for (const [field, max] of raised)
    faults[field] ??= [
      fault(
        'beyond_your_rights',
        `must be at most ${max}, as others have set it; to raise it needs the permission ${needed}`,
      ),
    ];
  return HttpProblem.fields(faults)!;
}

function assertLimitNames(limits: Limits): Limits {
  const unknown = Object.keys(limits).find((name) => !LIMIT_NAMES.includes(name as LimitName));
  if (unknown !== undefined) throw new Error(`no limit is called ${unknown}`);
  return limits;
}
