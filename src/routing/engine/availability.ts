import type { Candidate } from './candidate';
import { route, type Considered, type RouteFacts } from './route';

/** Whether some buyer would take a call now. */
export interface Availability {
  available: boolean;
  /** Why none would, in words; null when one would. */
  message: string | null;
  /** When to ask again: the first time at which hours or caps change by themselves. */
  look_again_at: Date;
}

/** Nobody says when a place among simultaneous calls becomes free, or a buyer is changed. */
const LOOK_AGAIN_MS = { least: 15_000, busy: 30_000, most: 600_000 };
/** The details of reasons that say when they end. */
const ENDS = ['opens_at', 'resets_at', 'pays_again_at', 'next_call_at'] as const;

/** What routing would decide about a call, without a reservation. Pure. */
export function availabilityOf(candidates: readonly Candidate[], facts: RouteFacts): Availability {
  const { now, refused } = facts;
  const { choices, considered } = route(candidates, facts);
  // Nobody is asked before there is a caller: whoever would be asked may take the call.
  const may_bid = considered.some(({ reason }) => reason === 'bid_not_asked');
  const available = choices.length > 0 || may_bid;
  return {
    available,
    message: available ? null : (refused?.message ?? whyNone(considered)),
    look_again_at: new Date(now.getTime() + delayOf(considered, now)),
  };
}

/** Such as: no buyer of the offer would take the call: closed (2), cap_reached (1) */
function whyNone(considered: readonly Considered[]): string {
  if (considered.length === 0) return 'the offer has no buyers';
  const counts = new Map<string, number>();
  for (const { reason } of considered) counts.set(reason!, (counts.get(reason!) ?? 0) + 1);
  const reasons = [...counts].map(([reason, n]) => `${reason} (${n})`);
  return `no buyer of the offer would take the call: ${reasons.join(', ')}`;
}

function delayOf(considered: readonly Considered[], now: Date): number {
  const ends = considered.flatMap(({ details }) =>
    ENDS.flatMap((name) => {
      const at = details?.[name];
      return typeof at === 'string' ? [Date.parse(at) - now.getTime()] : [];
    }),
  );
  const busy = considered.some(({ reason }) => reason === 'concurrency_full');
  const first = Math.min(LOOK_AGAIN_MS[busy ? 'busy' : 'most'], ...ends);
  return Math.max(LOOK_AGAIN_MS.least, first);
}
