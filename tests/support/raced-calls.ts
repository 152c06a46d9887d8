import { applyEvent, use, PAID, PAID_AFTER, type ModelAttempt, type ModelCall } from './call-model';
import type { ModelBuyer, ModelGroup } from './call-model';

// A call whose events are reported at the same time: what it may come to is what it comes to in
// one of their orders.

/** A report about a call, or an action on it. */
export interface RacedEvent {
  event:
    | 'answered'
    | 'no_answer'
    | 'busy'
    | 'press'
    | 'decline'
    | 'completed'
    | 'duration'
    | 'ringing'
    | 'lost';
  /** The index of its attempt among those that were dialed. */
  index: number;
  /** Seconds of talk that are reported. */
  seconds: number;
}

export interface RacedCall {
  buyers: ModelBuyer[];
  groups: ModelGroup[];
  call: ModelCall;
  /** The buyers that were not dialed yet, in the order of their turn. */
  next: ModelBuyer[];
  is_lost: boolean;
  /** Indexes of the attempts that rang when the call was considered over. */
  cut_off: number[];
  paid: number;
}

const START = new Date('2026-06-01T12:00:00Z');
const after = (seconds: number) => new Date(START.getTime() + seconds * 1000);

function pay(raced: RacedCall, attempt: ModelAttempt): void {
  if (attempt.converted) return;
  use(attempt, { buyer_conversion: 1, revenue: PAID, earned_revenue: PAID }, START);
  attempt.converted = true;
  raced.paid++;
}

const isConnected = ({ connected_at }: ModelAttempt): boolean => connected_at !== undefined;

/** The end of a lost call says which buyer had it, unless that one had to press 1. */
const isTaken = (raced: RacedCall, { event, index, seconds }: RacedEvent): boolean =>
  event === 'completed' &&
  raced.is_lost &&
  seconds > 0 &&
  raced.cut_off.includes(index) &&
  !raced.call.attempts[index]!.buyer.press_one;

/** An end is refused that tells seconds of talk of a call that no buyer has taken. */
const isRefused = (raced: RacedCall, racedEvent: RacedEvent): boolean =>
  racedEvent.event === 'completed' &&
  racedEvent.seconds > 0 &&
  !raced.call.attempts.some(isConnected) &&
  !isTaken(raced, racedEvent);

function takeLate(raced: RacedCall, racedEvent: RacedEvent): ModelAttempt | undefined {
  if (!isTaken(raced, racedEvent)) return undefined;
  const attempt = raced.call.attempts[racedEvent.index]!;
  attempt.connected_at = after(0);
  use(attempt, { connection: 1 }, START);
  return attempt;
}

/**
 * Settles the conversions of a call after an event that reports how long the parties have talked.
 */
function talk(raced: RacedCall, { event, index, seconds }: RacedEvent): void {
  if (event !== 'duration' && event !== 'completed') return;
  if (event === 'duration' && raced.call.attempts[index]!.status === 'over') return;
  const connected =
    raced.call.attempts.find(isConnected) ?? takeLate(raced, { event, index, seconds });
  if (!connected || seconds < PAID_AFTER) return;
  if (connected.status === 'connected') pay(raced, connected);
  else if (event === 'completed' && raced.is_lost) pay(raced, connected);
}

/** Applies one event after the ones before it. */
export function applyRaced(raced: RacedCall, racedEvent: RacedEvent): void {
  const { call } = raced;
  const attempt = call.attempts[racedEvent.index]!;
  const { event } = racedEvent;
  if (event === 'lost') {
    if (call.ended) return;
    raced.cut_off = call.attempts.flatMap(({ status }, n) => (status === 'over' ? [] : [n]));
    for (const callAttempt of call.attempts) callAttempt.status = 'over';
    call.ended = true;
    raced.is_lost = true;
    return;
  }
  if (isRefused(raced, racedEvent)) return;
  talk(raced, racedEvent);
  if (event === 'completed' && call.ended) raced.is_lost = false;
  if (event === 'duration' || event === 'ringing' || call.ended) return;
  if (attempt.status === 'over' && event !== 'completed') return;
  // The model pays for a call by its clock; here the dollars were moved above.
  const outcome = applyEvent(call, attempt, event, after(0));
  for (const callAttempt of call.attempts)
    if (callAttempt.connected_at) callAttempt.connected_at = after(0);
  if (outcome !== 'next_round') return;
  const buyer = raced.next.shift();
  if (!buyer) call.ended = true;
  else
    call.attempts.push({
      uuid: '',
      buyer,
      group: null,
      status: 'ringing',
      converted: false,
      returnable: [],
    });
}

/** All permutations. */
export const listOrders = <T>(all: readonly T[]): T[][] =>
  all.length === 0
    ? [[]]
    : all.flatMap((item, index) =>
        listOrders(all.filter((_, otherIndex) => otherIndex !== index)).map((rest) => [
          item,
          ...rest,
        ]),
      );
