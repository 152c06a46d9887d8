import type { HeldUsage, HeldSlot } from '../caps/caps';
import type { RouteFacts } from './engine/evaluate';
import type { FirstChoice, Member } from './engine/order';
import type { SourceCaps } from './engine/source';
import type { RoutingContext } from './load-routing';

export interface CapUsage extends HeldUsage {
  limit_id: number;
  buyer_id: number | null;
  buyer_group_id: number | null;
  traffic_source_id: number | null;
  /** Slots of concurrency. A call without a buyer takes none of its source. */
  slots: 0 | 1;
  /** Minimum seconds since the last call. */
  spacing: number;
}

const CHOICE_DEFAULTS = { traffic_source_id: null, slots: 1 } as const;

/** The most that a call dialed to these buyers at once may use: one of them gets it. */
export const toHeldUsage = (members: readonly Member[]): HeldUsage => ({
  connections: 1,
  conversions: members.some(({ buyer }) => buyer.current_conversion_revenue !== null) ? 1 : 0,
  revenue: Math.max(...members.map(({ buyer }) => buyer.most_revenue)),
});

/**
 * Builds the usage of a call: of the caps of the dialed group, the buyers, and the source. A call
 * that came in earlier has used its part of the source. Pure.
 */
export function buildCapUsages(
  first: FirstChoice | undefined,
  caps: RoutingContext['caps'],
  facts: Pick<RouteFacts, 'spacing_seconds' | 'source_caps' | 'refused'>,
): CapUsage[] {
  const { source_caps, refused } = facts;
  const usages = first ? buildChoiceUsages(first, caps, facts.spacing_seconds ?? 0) : [];
  if (!source_caps || source_caps.call_id !== undefined || refused) return usages;
  return [...usages, buildSourceUsage(source_caps, first)];
}

function buildChoiceUsages(
  { members, group: dialedGroup }: FirstChoice,
  caps: RoutingContext['caps'],
  spacing: number,
): CapUsage[] {
  const group = dialedGroup ?? members[0]!.group;
  const ofBuyers = members.map((member): CapUsage => {
    const { id } = member.buyer;
    const owner = { ...CHOICE_DEFAULTS, buyer_id: id, buyer_group_id: null, spacing };
    return { ...toHeldUsage([member]), ...owner, limit_id: caps.caps_of_buyers.get(id)! };
  });
  ofBuyers.sort((a, b) => a.buyer_id! - b.buyer_id!);
  if (!group) return ofBuyers;
  const owner = { ...CHOICE_DEFAULTS, buyer_id: null, buyer_group_id: group.id, spacing: 0 };
  const limitId = caps.caps_of_groups.get(group.id)!;
  return [{ ...toHeldUsage(members), ...owner, limit_id: limitId }, ...ofBuyers];
}

/** A call without a buyer is counted, and ends at once. */
function buildSourceUsage(
  { limit_id, traffic_source_id, revenue }: SourceCaps,
  first: FirstChoice | undefined,
): CapUsage {
  const owner = { buyer_id: null, buyer_group_id: null, traffic_source_id, limit_id, spacing: 0 };
  return first
    ? { ...owner, connections: 1, conversions: 1, revenue, slots: 1 }
    : { ...owner, connections: 0, conversions: 0, revenue: 0, slots: 0 };
}

/** The rows of call_slots of the call. */
export const toSlots = (usages: readonly CapUsage[]): HeldSlot[] =>
  usages
    .filter(({ slots }) => slots > 0)
    .map(({ limit_id, connections, conversions, revenue }) => ({
      ...{ connections, conversions, revenue },
      call_limit_id: String(limit_id),
    }));

/** The argument of reserve_caps() in the database. */
export const toUsageRows = (usages: readonly CapUsage[]) =>
  usages.map(({ connections, conversions, revenue, spacing, ...usage }, n) => ({
    ...usage,
    n,
    calls: 1,
    attempt: 1,
    held_connections: connections,
    held_conversions: conversions,
    held_revenue: revenue,
    spacing_seconds: spacing,
  }));
