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
  place: number;
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
const isTaken = (raced: RacedCall, { event, place, seconds }: RacedEvent): boolean =>
  event === 'completed' &&
  raced.is_lost &&
  seconds > 0 &&
  raced.cut_off.includes(place) &&
  !raced.call.attempts[place]!.buyer.press_one;

/** An end is refused that tells seconds of talk of a call that no buyer has taken. */
const isRefused = (raced: RacedCall, raced_event: RacedEvent): boolean =>
  raced_event.event === 'completed' &&
  raced_event.seconds > 0 &&
  !raced.call.attempts.some(isConnected) &&
  !isTaken(raced, raced_event);

function takeLate(raced: RacedCall, raced_event: RacedEvent): ModelAttempt | undefined {
  if (!isTaken(raced, raced_event)) return undefined;
  const named = raced.call.attempts[raced_event.place]!;
  named.connected_at = after(0);
  use(named, { connection: 1 }, START);
  return named;
}

/**
 * Settles the conversions of a call after an event that reports how long the parties have talked.
 */
function talk(raced: RacedCall, { event, place, seconds }: RacedEvent): void {
  if (event !== 'duration' && event !== 'completed') return;
  if (event === 'duration' && raced.call.attempts[place]!.status === 'over') return;
  const connected =
    raced.call.attempts.find(isConnected) ?? takeLate(raced, { event, place, seconds });
  if (!connected || seconds < PAID_AFTER) return;
  if (connected.status === 'connected') pay(raced, connected);
  else if (event === 'completed' && raced.is_lost) pay(raced, connected);
}

/** Applies one event after the ones before it. */
export function applyRaced(raced: RacedCall, raced_event: RacedEvent): void {
  const { call } = raced;
  const attempt = call.attempts[raced_event.place]!;
  const { event } = raced_event;
  if (event === 'lost') {
    if (call.ended) return;
    raced.cut_off = call.attempts.flatMap(({ status }, n) => (status === 'over' ? [] : [n]));
    for (const each of call.attempts) each.status = 'over';
    call.ended = true;
    raced.is_lost = true;
    return;
  }
  if (isRefused(raced, raced_event)) return;
  talk(raced, raced_event);
  if (event === 'completed' && call.ended) raced.is_lost = false;
  if (event === 'duration' || event === 'ringing' || call.ended) return;
  if (attempt.status === 'over' && event !== 'completed') return;
  // The model pays for a call by its clock; here the dollars were moved above.
  const again = applyEvent(call, attempt, event, after(0));
  for (const each of call.attempts) if (each.connected_at) each.connected_at = after(0);
  if (again !== 'again') return;
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
export const ordersOf = <T>(all: readonly T[]): T[][] =>
  all.length === 0
    ? [[]]
    : all.flatMap((one, place) =>
        ordersOf(all.filter((_, other) => other !== place)).map((rest) => [one, ...rest]),
      );
