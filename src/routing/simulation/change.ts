import type { CandidateGroup } from '../engine/candidate';
import { cents } from '../engine/payout';
import type { Reason } from '../engine/reasons';
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

const given = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<T>;

function changedBuyer(
  { candidate, caps, conversions }: SimulatedBuyer,
  { limits, hours, paused, tier, weight, timeout_seconds }: BuyerChange,
): SimulatedBuyer {
  const business_hours = hours?.map(({ open }) => open);
  return {
    conversions,
    candidate: {
      ...candidate,
      ...given({ paused, tier, weight, timeout_seconds, business_hours }),
    } as SimulatedBuyer['candidate'],
    caps: { ...caps, limits: { ...caps.limits, ...limits }, hours: hours ?? caps.hours },
  };
}

function changedGroup(
  { group, caps }: SimulatedGroup,
  { limits, paused, tier, weight, dial_buyers_type }: GroupChange,
): SimulatedGroup {
  return {
    group: { ...group, ...given({ paused, tier, weight, dial_buyers_type }) } as CandidateGroup,
    caps: { ...caps, limits: { ...caps.limits, ...limits } },
  };
}

export function changed(
  { buyers, groups, ...others }: Configuration,
  changes: { buyers: readonly BuyerChange[]; groups: readonly GroupChange[] },
): Configuration {
  const of_buyers = new Map(changes.buyers.map((change) => [change.id, change]));
  const of_groups = new Map(changes.groups.map((change) => [change.id, change]));
  const withChange = <T, C>(one: T, change: C | undefined, apply: (one: T, change: C) => T): T =>
    change === undefined ? one : apply(one, change);
  return {
    ...others,
    buyers: buyers.map((one) => withChange(one, of_buyers.get(one.candidate.id), changedBuyer)),
    groups: groups.map((one) => withChange(one, of_groups.get(one.group.id), changedGroup)),
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

const combined = (a: Counts, b: Counts, sign: 1 | -1): Counts =>
  Object.fromEntries(
    COUNTS.map((name) => [name, cents(a[name] + sign * b[name])]),
  ) as unknown as Counts;

/** `after` minus `before`. */
export const differenceOf = (before: Counts, after: Counts): Counts => combined(after, before, -1);

export const NO_COUNTS: Counts = {
  calls: 0,
  attempts: 0,
  connects: 0,
  conversions: 0,
  revenue: 0,
  payout: 0,
};
export const sumOf = (all: readonly Counts[]): Counts =>
  all.reduce((sum, each) => combined(sum, each, 1), NO_COUNTS);

export function totalOf(all: readonly Figures[]): Figures {
  const skip_reasons: Figures['skip_reasons'] = {};
  for (const { skip_reasons: own } of all)
    for (const reason of Object.keys(own) as Reason[])
      skip_reasons[reason] = (skip_reasons[reason] ?? 0) + own[reason]!;
  return { ...sumOf(all), skip_reasons };
}
