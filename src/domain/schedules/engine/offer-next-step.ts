import { computeExpiry, type Facts, type Plan, type Progress } from './cadence';
import { decideNextStep, type NextStep, type ContactConditions, type Verdict } from './next-step';

export type OfferVerdict = Verdict | { kind: 'queue'; at: Date | undefined };
type NextOfferStep = Omit<NextStep, 'verdict'> & { verdict: OfferVerdict };

/**
 * Decides the next step of a lead of an offer, now. Such a lead has no schedule: it waits for a
 * call until it expires, and may request a callback. Pure.
 */
export function decideNextOfferStep(
  from: Progress,
  plan: Plan,
  facts: Facts & { conditions: ContactConditions },
): NextOfferStep {
  if (facts.conditions.paused)
    return { progress: from, events: [], verdict: { kind: 'park', reason: 'disabled' } };
  const expiry = computeExpiry(plan, from);
  if (expiry && expiry <= facts.now) {
    return {
      progress: { ...from, callback_at: null },
      events: [{ event: 'left_schedule', reason: 'expired' }],
      verdict: { kind: 'end', reason: 'expired' },
    };
  }
  const queued: OfferVerdict = { kind: 'queue', at: expiry };
  if (!from.callback_at) return { progress: from, events: [], verdict: queued };
  const step = decideNextStep(from, { ...plan, expires_in: null, hours_to_expire: null }, facts);
  const { verdict } = step;
  // The callback is not possible: treat the lead as if it had not requested one.
  if (verdict.kind === 'end')
    return { progress: { ...from, callback_at: null }, events: [], verdict: queued };
  if (verdict.kind === 'later' && expiry && expiry < verdict.at)
    return { ...step, verdict: { ...verdict, at: expiry } };
  return step;
}
