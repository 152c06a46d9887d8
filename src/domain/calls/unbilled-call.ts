import {
  buildUnbilledEvent,
  explainUnbilled,
  RETURNED,
  type CheckedConversion,
} from '../money/engine/explain-unbilled';
import type { PayingConversion } from '../money/load-conversions';
import type { AttemptState, CallState } from './call-state';
import { toBidConversion } from './find-conversion';
import type { Progress } from './record-change';

// Why the buyer that had a call does not pay for it: written once, when the call ends.

/** The conversions of a buyer for a call; its bid replaces them. */
export const listTerms = ({ bid, conversions }: AttemptState): PayingConversion[] =>
  bid ? [toBidConversion(bid)] : (conversions ?? []);

export const hasPaid = ({ dollars }: CallState, { buyer_id }: AttemptState): boolean =>
  dollars.paid.some((paid) => paid.buyer_id === buyer_id);

interface UnpaidTalk {
  talking: AttemptState;
  checked: readonly CheckedConversion[];
}

/** Adds the reason to the end of a call, and the event, unless one has said that: a return has. */
export function addUnbilled(
  { dollars }: CallState,
  progress: Progress,
  { talking: { buyer_id }, checked }: UnpaidTalk,
): Progress {
  const unbilled = dollars.is_returned ? RETURNED : explainUnbilled(checked);
  const { reason } = unbilled;
  const isSaid =
    dollars.is_returned ||
    dollars.unbilled.some((earlier) => earlier.buyer_id === buyer_id && earlier.reason === reason);
  const events = isSaid ? [] : [buildUnbilledEvent(unbilled, buyer_id)];
  return { ...progress, events: [...progress.events, ...events], unbilled_reason: reason };
}

/** For the end of a call that no event reported: how long its buyer talked is unknown. */
export function explainLost(state: CallState, progress: Progress): Progress {
  const talking = state.attempts.find(({ connected_at }) => connected_at !== null);
  if (!talking || hasPaid(state, talking)) return progress;
  const checked = listTerms(talking).map((conversion): CheckedConversion => {
    const isDuration = conversion.conversion_type === 'duration';
    return { conversion, unmet: { reason: isDuration ? 'end_not_reported' : 'not_reported' } };
  });
  return addUnbilled(state, progress, { talking, checked });
}
