import {
  buildUnbilledEvent,
  explainUnbilled,
  RETURNED,
  type Unbilled,
} from '../money/engine/explain-unbilled';
import type { PayingConversion } from '../money/load-conversions';
import type { AttemptState, CallState } from './call-state';
import { toBidConversion } from './find-conversion';
import type { Progress } from './record-change';

// Why the buyer that had a call does not pay for it: written once, when the call ends.

export interface UnbilledBuyer extends Unbilled {
  buyer_id: number;
}

/** The conversions of a buyer for a call; its bid replaces them. */
export const listTerms = ({ bid, conversions }: AttemptState): PayingConversion[] =>
  bid ? [toBidConversion(bid)] : (conversions ?? []);

/** Adds the reason to the end of a call, and the event, unless one has said that: a return has. */
export function addUnbilled(
  { dollars }: CallState,
  progress: Progress,
  { buyer_id, ...unbilled }: UnbilledBuyer,
): Progress {
  const { reason } = unbilled;
  const isSaid =
    reason === RETURNED.reason ||
    dollars.unbilled.some((earlier) => earlier.buyer_id === buyer_id && earlier.reason === reason);
  const events = isSaid ? [] : [buildUnbilledEvent(unbilled, buyer_id)];
  return { ...progress, events: [...progress.events, ...events], unbilled_reason: reason };
}

/** For the end of a call that no event reported: how long its buyer talked is unknown. */
export function explainLost(state: CallState, progress: Progress): Progress {
  const { attempts, dollars } = state;
  const talking = attempts.find(({ connected_at }) => connected_at !== null);
  if (!talking || dollars.paid.some(({ buyer_id }) => buyer_id === talking.buyer_id))
    return progress;
  const unbilled = dollars.is_returned
    ? RETURNED
    : explainUnbilled(
        listTerms(talking).map((conversion) => ({
          conversion,
          unmet: {
            reason: conversion.conversion_type === 'duration' ? 'end_not_reported' : 'not_reported',
          },
        })),
      );
  return addUnbilled(state, progress, { buyer_id: talking.buyer_id, ...unbilled });
}
