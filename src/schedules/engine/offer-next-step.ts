import { expiryOf, type Facts, type Plan, type Progress } from './cadence';
import { turn, type Standing, type Turn, type Verdict } from './next-step';

/** A lead of an offer has no schedule: it waits for a call, at most until it expires, and may ask to be called back. */
export type OfferVerdict = Verdict | { kind: 'queue'; at: Date | undefined };

/** What comes of a lead of an offer, now. Pure. */
export function offerTurn(
  from: Progress,
  plan: Plan,
  facts: Facts & { standing: Standing },
): Omit<Turn, 'verdict'> & { verdict: OfferVerdict } {
  if (facts.standing.paused)
    return { progress: from, events: [], verdict: { kind: 'park', reason: 'disabled' } };
  const expiry = expiryOf(plan, from);
  if (expiry && expiry <= facts.now) {
    return {
      progress: { ...from, callback_at: null },
      events: [{ event: 'left_schedule', reason: 'expired' }],
      verdict: { kind: 'end', reason: 'expired' },
    };
  }
  if (!from.callback_at)
    return { progress: from, events: [], verdict: { kind: 'queue', at: expiry } };
  const called = turn(from, { ...plan, expires_in: null, hours_to_expire: null }, facts);
  const { verdict } = called;
  // Nobody may call it: it is as if it had not asked.
  if (verdict.kind === 'end')
    return {
      progress: { ...from, callback_at: null },
      events: [],
      verdict: { kind: 'queue', at: expiry },
    };
  if (verdict.kind === 'later' && expiry && expiry < verdict.at)
    return { ...called, verdict: { ...verdict, at: expiry } };
  return called;
}
