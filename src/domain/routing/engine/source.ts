import { CAPS, factsOf, type UsedUpCap } from '../../caps/caps';
import { listCounters, type CapRow } from '../../caps/engine/cap-row';
import { pickUsedUpCap } from '../../caps/engine/used-up-cap';
import type { Candidate } from './candidate';
import { capFault } from './caps';
import type { PayoutTerms } from '../../money/engine/payout';
import type { Fault } from './reasons';

// The effect of traffic sources on routing. A reason against a source keeps its calls from all
// buyers.

/** A row of caps, of a source that has limits. */
export type SourceLimits = CapRow & { id: number };

export interface CallSource {
  id: number;
  paused: boolean;
  /** Buyers that get no calls of the source. */
  blocked_buyer_ids: readonly number[];
  /** The only buyers that get calls of the source; empty for any. */
  allowed_buyer_ids: readonly number[];
  /** Used when the offer has no terms for the source. */
  payouts: readonly PayoutTerms[];
  /** Null for a source without limits. */
  limits: SourceLimits | null;
}

/** The caps of the source of a call, and the call's possible usage. */
export interface SourceCaps {
  traffic_source_id: number;
  /** A row of call_limits. */
  limit_id: number;
  /** Dollars: the highest revenue of the call. */
  revenue: number;
  /**
   * Set for a call that has used its part already, and may now bring more dollars than it holds.
   */
  call_id?: number;
}

const REASONS = {
  cap_reached: 'traffic_source_cap_reached',
  concurrency_full: 'traffic_source_concurrency_full',
} as const;

export interface SourceFault extends Fault {
  reason: 'traffic_source_paused' | (typeof REASONS)[keyof typeof REASONS];
}

/** The reason against a call of a source with up to so many dollars. Pure. */
export function sourceFault(
  { paused, limits }: Pick<CallSource, 'paused' | 'limits'>,
  revenue: number,
  now: Date,
): SourceFault | undefined {
  if (paused) return { reason: 'traffic_source_paused', message: 'the traffic source is paused' };
  const usedUp = limits && pickUsedUpCap(listCounters(limits, now), revenue);
  return usedUp ? sourceCapFault({ used_up: usedUp, zone: limits.zone }) : undefined;
}

export function sourceCapFault(owner: { used_up: UsedUpCap; zone: string }): SourceFault {
  const { reason, ...fault } = capFault(owner, 'the traffic source')!;
  return { ...fault, reason: REASONS[reason as keyof typeof REASONS] };
}

/** The caps of a source that a call uses when it looks for one of these buyers. */
export function buildSourceCaps(
  { id, limits }: CallSource,
  candidates: readonly Candidate[],
): SourceCaps | undefined {
  if (!limits) return undefined;
  return {
    traffic_source_id: id,
    limit_id: limits.id,
    revenue: computeMaxRevenue(limits, candidates),
  };
}

/** Dollars matter only for caps of dollars; any of the buyers may get the call. */
function computeMaxRevenue(limits: SourceLimits, candidates: readonly Candidate[]): number {
  const counts = CAPS.some(
    ({ metric, limit }) => factsOf(metric).is_money && (limits[limit] ?? null) !== null,
  );
  if (!counts) return 0;
  let most = 0;
  for (const { most_revenue } of candidates) most = Math.max(most, most_revenue);
  return most;
}

export interface SourceBuyers {
  blocked: ReadonlySet<number>;
  /** Undefined for any. */
  allowed?: ReadonlySet<number> | undefined;
  /** Buyers that pay more than `dollars` would exceed a cap of the source. */
  room?: { dollars: number; fault: SourceFault } | undefined;
}

/** Undefined for any buyer. */
export function toSourceBuyers({
  blocked_buyer_ids: blocked,
  allowed_buyer_ids: allowed,
}: Pick<CallSource, 'blocked_buyer_ids' | 'allowed_buyer_ids'>): SourceBuyers | undefined {
  if (blocked.length === 0 && allowed.length === 0) return undefined;
  return {
    blocked: new Set(blocked),
    allowed: allowed.length > 0 ? new Set(allowed) : undefined,
  };
}

export function sourceBuyerFault(
  { id, most_revenue }: Candidate,
  { blocked, allowed, room }: SourceBuyers,
): Fault | undefined {
  if (room && most_revenue > room.dollars) return room.fault;
  if (blocked.has(id))
    return {
      reason: 'blocked_for_traffic_source',
      message: 'the buyer gets no calls of the traffic source',
    };
  return !allowed || allowed.has(id)
    ? undefined
    : {
        reason: 'not_allowed_for_traffic_source',
        message: 'the buyer is not among those that get the calls of the traffic source',
      };
}
