import { passesFilters } from '../../platform/tokens/filters';
import type { TokenSource } from '../../platform/tokens/substitute';
import { isOpenAt } from '../../platform/time/opening-hours';
import { minuteOfWeek } from '../../platform/time/zone';
import type { CandidateBid } from '../routing/engine/candidate';
import { drawBy } from '../routing/engine/draw';

// The outcome of a simulated attempt: the real one if it took place, or else a random one at the
// expected rates.

/** A conversion of a buyer, reduced to its price and conditions. */
export interface PayingTerms {
  time_frame: number;
  open: readonly number[];
  conversion_type: 'duration' | 'postback';
  /** Seconds. */
  duration: number;
  /** Dollars. */
  revenue: number;
  /** Seconds. */
  duplicate_timeframe: number;
  token_values: readonly string[];
}

export interface RealAttempt {
  buyer_id: number;
  status: 'connected' | 'unanswered' | 'released' | 'canceled';
  /** Seconds from dialing to the answer, or to the end of ringing. */
  rang: number;
  /**
   * Dollars, of a connected attempt. Null when it did not convert; undefined when it did not
   * because the buyer had paid for the caller before.
   */
  revenue?: number | null | undefined;
}

/** A probability, and its source. */
export interface Rate {
  rate: number;
  from: 'buyer' | 'offer' | 'given' | 'assumed';
}

export interface Rates {
  answer: Rate;
  /** Conversions by postback among connected calls. */
  conversion: Rate;
}

/** Expected values for attempts that did not take place. */
export interface Expectations {
  rates: ReadonlyMap<number, Rates>;
  /** Seconds that calls last, from the shortest to the longest; each is equally likely. */
  talked: readonly number[];
  /** Seconds until a buyer answers. */
  answered_after: number;
}

export interface Outcome {
  answers: boolean;
  /** Seconds of ringing until the buyer answers or ringing stops. */
  after: number;
}

/** Random numbers from 0 to 1 that depend only on the seed, the call, the buyer and `what`. */
export type Chances = (buyerId: number, what: 'answer' | 'conversion' | 'talk') => number;
const CHANCE_KEYS = { answer: 0, conversion: 1, talk: 2 };
export function buildChances(seed: string, callId: number): Chances {
  const draw = drawBy(`${seed}/${callId}`);
  return (buyerId, what) => Math.exp(-draw(buyerId * 4 + CHANCE_KEYS[what], 1));
}

interface AttemptToDecide {
  buyer: { id: number; timeout_seconds: number };
  real: RealAttempt | undefined;
  chances: Chances;
  expected: Expectations;
}

/**
 * Decides if and when a buyer answers. An attempt that was really released because another buyer
 * took the call may answer, but not before its release.
 */
export function decideOutcome({
  buyer: { id, timeout_seconds },
  real,
  chances,
  expected,
}: AttemptToDecide): Outcome {
  if (real?.status === 'connected')
    return { answers: real.rang <= timeout_seconds, after: Math.min(real.rang, timeout_seconds) };
  if (real?.status === 'unanswered')
    return { answers: false, after: Math.min(real.rang, timeout_seconds) };
  const after = Math.min(Math.max(expected.answered_after, real?.rang ?? 0), timeout_seconds);
  const answers = chances(id, 'answer') < expected.rates.get(id)!.answer.rate;
  return { answers, after: answers ? after : timeout_seconds };
}

/** Seconds that a call lasts: its real duration, or else that of some other call. */
export function pickTalkTime(
  talked: number | null,
  chances: Chances,
  { talked: all }: Expectations,
): number {
  // The duration depends on the caller, not on the buyer: hence buyer 0.
  return talked ?? all[Math.min(all.length - 1, Math.floor(chances(0, 'talk') * all.length))] ?? 0;
}

/**
 * The conversions of a buyer that are open at an instant, in order; the first is the current one.
 */
export function listOpenConversions(
  conversions: readonly PayingTerms[],
  zone: string,
  now: Date,
): PayingTerms[] {
  const minute = minuteOfWeek(zone, now);
  const open = conversions.filter((conversion) => isOpenAt(conversion.open, minute));
  return open.filter(({ time_frame }) => time_frame === open[0]!.time_frame);
}

/** A buyer pays by its bid for the call, or else by its conversions that are open at an instant. */
export const listPayingTerms = (
  bid: CandidateBid | undefined,
  { conversions, zone, now }: { conversions: readonly PayingTerms[]; zone: string; now: Date },
): PayingTerms[] => (bid ? [toBidTerms(bid)] : listOpenConversions(conversions, zone, now));

const toBidTerms = ({ amount, duration }: CandidateBid): PayingTerms => ({
  time_frame: 0,
  open: [],
  conversion_type: 'duration',
  duration,
  revenue: amount,
  duplicate_timeframe: 0,
  token_values: [],
});

/** The first conversion by duration that pays for so many seconds, or else the one by postback. */
export function pickPayingTerms(
  open: readonly PayingTerms[],
  {
    seconds,
    tokens,
    has_postback,
  }: { seconds: number; tokens: TokenSource; has_postback: boolean },
): PayingTerms | undefined {
  const lasted = open.find(
    ({ conversion_type, duration, token_values }) =>
      conversion_type === 'duration' && seconds >= duration && passesFilters(token_values, tokens),
  );
  if (lasted || !has_postback) return lasted;
  return open.find(({ conversion_type }) => conversion_type === 'postback');
}

export interface ObservedAttempts {
  buyer_id: number;
  attempts: number;
  connects: number;
  conversions: number;
  /** The sum of seconds until the buyer took the calls. */
  rang: number;
}

/** Values of the request that replace observed ones. */
export interface Assumptions {
  answer_rate?: number | undefined;
  conversion_rate?: number | undefined;
  answered_seconds?: number | undefined;
}

/** The minimum number of attempts or calls for a rate. */
export const MIN_OBSERVED = 20;
/** Seconds, without observations. */
export const DEFAULTS = { answered_after: 10, talked: 120 };

type Totals = Omit<ObservedAttempts, 'buyer_id'>;

const NO_ATTEMPTS: Totals = { attempts: 0, connects: 0, conversions: 0, rang: 0 };

const sumAttempts = (observed: readonly ObservedAttempts[]): Totals =>
  observed.reduce(
    (sum, row) => ({
      attempts: sum.attempts + row.attempts,
      connects: sum.connects + row.connects,
      conversions: sum.conversions + row.conversions,
      rang: sum.rang + row.rang,
    }),
    NO_ATTEMPTS,
  );

/** A count out of a total. */
type Ratio = readonly [number, number];

/**
 * The assumed rate, or else that of the buyer, or of all buyers if the buyer has too few attempts.
 */
function pickRate(assumed: number | undefined, buyerRatio: Ratio, all: Ratio): Rate {
  if (assumed !== undefined) return { rate: assumed, from: 'given' };
  if (buyerRatio[1] >= MIN_OBSERVED) return { rate: buyerRatio[0] / buyerRatio[1], from: 'buyer' };
  if (all[1] >= MIN_OBSERVED) return { rate: all[0] / all[1], from: 'offer' };
  return { rate: 1, from: 'assumed' };
}

function buildRates(buyerTotals: Totals, all: Totals, assumptions: Assumptions): Rates {
  const answered = ({ connects, attempts }: Totals): Ratio => [connects, attempts];
  const converted = ({ conversions, connects }: Totals): Ratio => [conversions, connects];
  return {
    answer: pickRate(assumptions.answer_rate, answered(buyerTotals), answered(all)),
    conversion: pickRate(assumptions.conversion_rate, converted(buyerTotals), converted(all)),
  };
}

function listDurations(
  assumedDuration: number | undefined,
  observed: readonly number[],
): readonly number[] {
  if (assumedDuration !== undefined) return [assumedDuration];
  return observed.length > 0 ? observed : [DEFAULTS.talked];
}

export interface Observations {
  buyer_ids: readonly number[];
  /** Seconds that connected calls lasted. */
  talked: readonly number[];
  assumptions?: Assumptions;
}

export function buildExpectations(
  observed: readonly ObservedAttempts[],
  { buyer_ids, talked, assumptions = {} }: Observations,
): Expectations {
  const all = sumAttempts(observed);
  const byBuyer = new Map(observed.map((row) => [row.buyer_id, row]));
  return {
    rates: new Map(
      buyer_ids.map((id) => [id, buildRates(byBuyer.get(id) ?? NO_ATTEMPTS, all, assumptions)]),
    ),
    talked: listDurations(assumptions.answered_seconds, talked),
    answered_after: all.connects > 0 ? all.rang / all.connects : DEFAULTS.answered_after,
  };
}
