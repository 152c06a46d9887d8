import { compileFilter } from '../../tokens/filters';
import type { TokenSource } from '../../tokens/substitute';
import { isOpenAt } from '../../time/opening-hours';
import { minuteOfWeek } from '../../time/zone';
import { drawBy } from '../engine/draw';

// What becomes of an attempt that is only simulated: what really happened where it did, else what the rates say.

/** A conversion of a buyer, as far as its calls pay by it. */
export interface PaidFor {
  time_frame: number;
  open: readonly number[];
  conversion_type: 'duration' | 'postback';
  /** Seconds. */
  duration: number;
  revenue: number;
  duplicate_timeframe: number;
  token_values: readonly string[];
}

/** What really came of a buyer that was dialed for a call. */
export interface RealAttempt {
  buyer_id: number;
  status: 'connected' | 'unanswered' | 'released' | 'canceled';
  /** Seconds from dialing to the answer, or to the end of the ringing. */
  rang: number;
  /** Dollars, of one that was connected; null when it did not convert, undefined when it did not because the caller was paid for before. */
  revenue?: number | null | undefined;
}

/** A chance, and whose numbers it comes from. */
export interface Rate {
  rate: number;
  from: 'buyer' | 'offer' | 'given' | 'assumed';
}

export interface Rates {
  answer: Rate;
  /** Of calls that were connected, where a conversion is told by postback. */
  conversion: Rate;
}

/** What is expected of attempts that did not take place. */
export interface Expectations {
  /** By buyer. */
  rates: ReadonlyMap<number, Rates>;
  /** Seconds that calls lasted, from the shortest to the longest: each is as likely. */
  talked: readonly number[];
  /** Seconds until a buyer answers. */
  answered_after: number;
}

export interface Outcome {
  answers: boolean;
  /** Seconds of ringing until then. */
  after: number;
}

/** Numbers from 0 to 1 that are the same for the same seed, call and buyer, whatever else happens. */
export type Chances = (buyer_id: number, what: 'answer' | 'conversion' | 'talk') => number;
const KINDS = { answer: 0, conversion: 1, talk: 2 };
export function chancesOf(seed: string, call_id: number): Chances {
  const draw = drawBy(`${seed}/${call_id}`);
  return (buyer_id, what) => Math.exp(-draw({ key: buyer_id * 4 + KINDS[what], weight: 1 }));
}

interface Asked {
  buyer: { id: number; timeout_seconds: number };
  real: RealAttempt | undefined;
  chances: Chances;
  expected: Expectations;
}

/** Whether and when a buyer answers. One that was let go because another took the call may answer, but no sooner than it was let go. */
export function outcomeOf({
  buyer: { id, timeout_seconds },
  real,
  chances,
  expected,
}: Asked): Outcome {
  if (real?.status === 'connected')
    return { answers: real.rang <= timeout_seconds, after: Math.min(real.rang, timeout_seconds) };
  if (real?.status === 'unanswered')
    return { answers: false, after: Math.min(real.rang, timeout_seconds) };
  const after = Math.min(Math.max(expected.answered_after, real?.rang ?? 0), timeout_seconds);
  const answers = chances(id, 'answer') < expected.rates.get(id)!.answer.rate;
  return { answers, after: answers ? after : timeout_seconds };
}

/** How long a call lasts: as long as it did, whoever took it; else as long as some other. */
export function talkOf(
  talked: number | null,
  chances: Chances,
  { talked: all }: Expectations,
): number {
  // The same for every buyer, since it is the caller's.
  return talked ?? all[Math.min(all.length - 1, Math.floor(chances(0, 'talk') * all.length))] ?? 0;
}

/** The conversions of a buyer that hold at an instant, in their order; the first is the current one. */
export function conversionsAt(conversions: readonly PaidFor[], zone: string, now: Date): PaidFor[] {
  const minute = minuteOfWeek(zone, now);
  const open = conversions.filter((conversion) => isOpenAt(conversion.open, minute));
  return open.filter(({ time_frame }) => time_frame === open[0]!.time_frame);
}

/** The first that pays for a call of so many seconds; without one, the one that somebody tells of, if chance has it. */
export function paying(
  open: readonly PaidFor[],
  { seconds, tokens, is_told }: { seconds: number; tokens: TokenSource; is_told: boolean },
): PaidFor | undefined {
  const lasted = open.find(
    ({ conversion_type, duration, token_values }) =>
      conversion_type === 'duration' &&
      seconds >= duration &&
      token_values.every((filter) => compileFilter(filter)?.(tokens) ?? false),
  );
  return (
    lasted ??
    (is_told ? open.find(({ conversion_type }) => conversion_type === 'postback') : undefined)
  );
}

/** What attempts at a buyer have come to. */
export interface ObservedAttempts {
  buyer_id: number;
  attempts: number;
  connects: number;
  conversions: number;
  /** Seconds until it took the call, all together. */
  rang: number;
}

/** What somebody wants assumed. */
export interface Given {
  answer_rate?: number | undefined;
  conversion_rate?: number | undefined;
  answered_seconds?: number | undefined;
}

/** From how many on a rate is taken to be one. */
export const ENOUGH = 20;
/** Of calls of which nothing is known. */
export const ASSUMED = { answered_after: 10, talked: 120 };

/** What is to be expected of attempts: what is given, else what is known of the buyer, else of all buyers together; 1 where that is too little too. */
export function expectationsOf(
  observed: readonly ObservedAttempts[],
  {
    buyer_ids,
    talked,
    given = {},
  }: { buyer_ids: readonly number[]; talked: readonly number[]; given?: Given },
): Expectations {
  const sum = (of: 'attempts' | 'connects' | 'conversions' | 'rang') =>
    observed.reduce((all, each) => all + each[of], 0);
  const by_buyer = new Map(observed.map((each) => [each.buyer_id, each]));
  const rateOf = (
    wanted: number | undefined,
    own: [number, number],
    all: [number, number],
  ): Rate => {
    if (wanted !== undefined) return { rate: wanted, from: 'given' };
    if (own[1] >= ENOUGH) return { rate: own[0] / own[1], from: 'buyer' };
    return all[1] >= ENOUGH
      ? { rate: all[0] / all[1], from: 'offer' }
      : { rate: 1, from: 'assumed' };
  };
  const rates = buyer_ids.map((id): [number, Rates] => {
    const { attempts = 0, connects = 0, conversions = 0 } = by_buyer.get(id) ?? {};
    const answer = rateOf(
      given.answer_rate,
      [connects, attempts],
      [sum('connects'), sum('attempts')],
    );
    return [
      id,
      {
        answer,
        conversion: rateOf(
          given.conversion_rate,
          [conversions, connects],
          [sum('conversions'), sum('connects')],
        ),
      },
    ];
  });
  return {
    rates: new Map(rates),
    talked:
      given.answered_seconds !== undefined
        ? [given.answered_seconds]
        : talked.length > 0
          ? talked
          : [ASSUMED.talked],
    answered_after: sum('connects') > 0 ? sum('rang') / sum('connects') : ASSUMED.answered_after,
  };
}
