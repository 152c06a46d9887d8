import type { Candidate } from './candidate';
import { evaluate, type RouteFacts } from './evaluate';
import type { Fault, Reason } from './reasons';

export interface Availability {
  available: boolean;
  /** The reasons when none would; null otherwise. */
  message: string | null;
  /** The first time at which hours or caps change by themselves. */
  look_again_at: Date;
}

/**
 * Milliseconds. No event announces that a slot of concurrency or a trunk becomes free, or that a
 * buyer changes.
 */
const LOOK_AGAIN_MS = { least: 15_000, busy: 30_000, most: 600_000 };
/** Details of reasons that hold the time at which the reason ends. */
const ENDS = ['opens_at', 'resets_at', 'pays_again_at', 'next_call_at'] as const;

/** Reasons that end when a call ends. */
const BUSY: ReadonlySet<Reason> = new Set(['concurrency_full', 'trunk_full']);

/** The decision of routing about a call, without a reservation. Pure. */
export function buildAvailability(
  candidates: readonly Candidate[],
  facts: RouteFacts,
): Availability {
  const { now, refused } = facts;
  const { faults, single, ringing } = evaluate(candidates, facts);
  const passedOver = faults.filter((fault) => fault !== undefined);
  // Bidders are not asked without a caller: a bidder that would be asked may take the call.
  const mayBid = passedOver.some(({ reason }) => reason === 'bid_not_asked');
  const available = single.length + ringing.length > 0 || mayBid;
  return {
    available,
    message: available ? null : (refused?.message ?? explainNone(passedOver)),
    look_again_at: new Date(now.getTime() + computeDelay(passedOver, now)),
  };
}

/** For example: no buyer of the offer would take the call: closed (2), cap_reached (1) */
function explainNone(faults: readonly Fault[]): string {
  if (faults.length === 0) return 'the offer has no buyers';
  const counts = new Map<string, number>();
  for (const { reason } of faults) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const reasons = [...counts].map(([reason, n]) => `${reason} (${n})`);
  return `no buyer of the offer would take the call: ${reasons.join(', ')}`;
}

function computeDelay(faults: readonly Fault[], now: Date): number {
  const ends = faults.flatMap(({ details }) =>
    ENDS.flatMap((name) => {
      const at = details?.[name];
      return typeof at === 'string' ? [Date.parse(at) - now.getTime()] : [];
    }),
  );
  const busy = faults.some(({ reason }) => BUSY.has(reason));
  const first = Math.min(LOOK_AGAIN_MS[busy ? 'busy' : 'most'], ...ends);
  return Math.max(LOOK_AGAIN_MS.least, first);
}
