import type { CandidateGroup } from '../routing/engine/candidate';
import { cents } from '../money/engine/payout';
import type { Reason } from '../routing/engine/reasons';
import type { Configuration, Figures, SimulatedBuyer, SimulatedGroup } from './model';
import type { HoursEntry, Limits } from './caps';

/** Undefined fields stay as they are. */
interface OwnerChange {
  id: number;
  paused?: boolean | undefined;
  tier?: number | undefined;
  weight?: number | undefined;
  /** Null removes a limit. */
  limits: Limits;
}
export interface BuyerChange extends OwnerChange {
  timeout_seconds?: number | undefined;
  /** Without entries the buyer is always open. */
  hours?: readonly HoursEntry[] | undefined;
}
export interface GroupChange extends OwnerChange {
  dial_buyers_type?: CandidateGroup['dial_buyers_type'] | undefined;
}

const pickDefined = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<T>;

function applyBuyerChange(
  { candidate, caps, conversions }: SimulatedBuyer,
  { limits, hours, paused, tier, weight, timeout_seconds }: BuyerChange,
): SimulatedBuyer {
  const businessHours = hours?.map(({ open }) => open);
  return {
    conversions,
    candidate: {
      ...candidate,
      ...pickDefined({ paused, tier, weight, timeout_seconds, business_hours: businessHours }),
    } as SimulatedBuyer['candidate'],
    caps: { ...caps, limits: { ...caps.limits, ...limits }, hours: hours ?? caps.hours },
  };
}

function applyGroupChange(
  { group, caps }: SimulatedGroup,
  { limits, paused, tier, weight, dial_buyers_type }: GroupChange,
): SimulatedGroup {
  return {
    group: {
      ...group,
      ...pickDefined({ paused, tier, weight, dial_buyers_type }),
    } as CandidateGroup,
    caps: { ...caps, limits: { ...caps.limits, ...limits } },
  };
}

export function applyChanges(
  { buyers, groups, ...rest }: Configuration,
  changes: { buyers: readonly BuyerChange[]; groups: readonly GroupChange[] },
): Configuration {
  const ofBuyers = new Map(changes.buyers.map((change) => [change.id, change]));
  const ofGroups = new Map(changes.groups.map((change) => [change.id, change]));
  const withChange = <T, C>(
    owner: T,
    change: C | undefined,
    apply: (owner: T, change: C) => T,
  ): T => (change === undefined ? owner : apply(owner, change));
  return {
    ...rest,
    buyers: buyers.map((buyer) =>
      withChange(buyer, ofBuyers.get(buyer.candidate.id), applyBuyerChange),
    ),
    groups: groups.map((group) =>
      withChange(group, ofGroups.get(group.group.id), applyGroupChange),
    ),
  };
}

export type Counts = Omit<Figures, 'skip_reasons'>;
const COUNTS = [
  'calls',
  'attempts',
  'connects',
  'conversions',
  'revenue',
  'payout',
] as const satisfies readonly (keyof Counts)[];

const combineCounts = (a: Counts, b: Counts, sign: 1 | -1): Counts =>
  Object.fromEntries(
    COUNTS.map((name) => [name, cents(a[name] + sign * b[name])]),
  ) as unknown as Counts;

/** `after` minus `before`. */
export const subtractCounts = (before: Counts, after: Counts): Counts =>
  combineCounts(after, before, -1);

export const NO_COUNTS: Counts = {
  calls: 0,
  attempts: 0,
  connects: 0,
  conversions: 0,
  revenue: 0,
  payout: 0,
};
export const sumCounts = (all: readonly Counts[]): Counts =>
  all.reduce((sum, counts) => combineCounts(sum, counts, 1), NO_COUNTS);

export function sumFigures(all: readonly Figures[]): Figures {
  const skipReasons: Figures['skip_reasons'] = {};
  for (const { skip_reasons: ownReasons } of all)
    for (const reason of Object.keys(ownReasons) as Reason[])
      skipReasons[reason] = (skipReasons[reason] ?? 0) + ownReasons[reason]!;
  return { ...sumCounts(all), skip_reasons: skipReasons };
}
