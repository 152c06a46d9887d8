import { canWhisper, maxLegsOf, type Carrier } from '../../carriers/carrier';
import type { CallFacts } from '../caller-facts';
import { drawBy } from '../engine/draw';
import type { Candidate, CandidateGroup, Suppression } from '../engine/candidate';
import { cents } from '../engine/payout';
import { sourceBuyersOf, sourceFault, type SourceBuyers, type SourceFault } from '../engine/source';
import { setFound, type Found } from '../../tokens/filter-lookups';
import { NO_ORIGIN, plainRouteFacts, type CallOrigin } from '../route-facts';
import { NO_COUNTS, type Counts } from './change';
import type { Configuration, ReplayedCall, RoundFacts } from './model';
import type { RealAttempt } from './outcome';
import type { Callers, PastCall, Setup } from './read';

// Builds the input of a replay from the loaded offer and its calls. Pure.

function groupedBy<T, K>(all: readonly T[], keyOf: (one: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    const known = groups.get(key);
    if (known) known.push(one);
    else groups.set(key, [one]);
  }
  return groups;
}

/** The groups through which the offer reaches buyers, each once. */
export const groupsOf = (candidates: readonly Candidate[]): CandidateGroup[] => [
  ...new Map(
    candidates.flatMap(({ groups }) => groups.map((group) => [group.id, group] as const)),
  ).values(),
];

export function configurationOf(
  candidates: readonly Candidate[],
  { caps, hours, conversions }: Setup,
  { offer }: CallFacts,
): Configuration {
  const hours_of = groupedBy(hours, ({ buyer_id }) => buyer_id);
  const conversions_of = groupedBy(conversions, ({ buyer_id }) => buyer_id);
  const caps_of = new Map(
    caps.map((row) => [
      row.buyer_id === null ? `group/${row.buyer_group_id}` : `buyer/${row.buyer_id}`,
      row,
    ]),
  );
  const sources = new Map(
    caps.flatMap((row) => (row.traffic_source_id === null ? [] : [[row.traffic_source_id, row]])),
  );
  const noCaps = (zone: string) => ({ zone, limits: {}, used: {} });
  return {
    payouts: offer.payouts,
    sources,
    groups: groupsOf(candidates).map((group) => ({
      group,
      caps: caps_of.get(`group/${group.id}`) ?? noCaps(group.zone),
    })),
    buyers: candidates.map((candidate) => ({
      candidate,
      caps: {
        ...(caps_of.get(`buyer/${candidate.id}`) ?? noCaps(candidate.zone)),
        hours: hours_of.get(candidate.id) ?? [],
      },
      conversions: conversions_of.get(candidate.id) ?? [],
    })),
  };
}

/** The carrier of the installation. */
export type OwnCarrier = Pick<Carrier, 'name' | 'max_legs' | 'can_whisper'>;

const NO_CALLS = { 1: 0, 7: 0, 30: 0, 90: 0 };

interface CallerAndTokens {
  caller_number: number | null;
  tokens: Record<string, unknown>;
  origin: CallOrigin;
  max_legs: number;
  can_whisper: boolean;
  source_fault?: SourceFault | undefined;
  source_buyers?: SourceBuyers | undefined;
  /** Data for filters; its sets may be filled later. */
  found: Found;
}

const factsOf =
  (
    facts: CallFacts,
    { caller_number, tokens, origin, max_legs, can_whisper, found, ...of_source }: CallerAndTokens,
  ) =>
  ({ now, seed, tried, previous_buyer_id, pays_again_at, source_fault }: RoundFacts) => {
    const paid = [...pays_again_at].map(([buyer_id, at]) => ({
      buyer_id,
      pays_again_at: at.toISOString(),
    }));
    const asked = plainRouteFacts(
      { ...facts, previous_buyer_id, paid },
      {
        ...{ now, seed, caller_number, tokens, origin, max_legs, can_whisper, tried },
        ...of_source,
        source_fault: of_source.source_fault ?? source_fault,
      },
    );
    setFound(asked.tokens, found);
    return asked;
  };

/** Memberships in lists that filters of any call refer to. */
export type Members = Set<string>;

interface SyntheticCalls {
  calls: number;
  tokens: Record<string, unknown>;
  carrier: OwnCarrier;
}

/** Calls at random times, evenly distributed over a period. */
export function syntheticCalls(
  facts: CallFacts,
  { calls, tokens, carrier }: SyntheticCalls,
  { from, to, seed, members }: { from: Date; to: Date; seed: string; members: Members },
): ReplayedCall[] {
  const draw = drawBy(`${seed}/arrivals`);
  const times = Array.from(
    { length: calls },
    (_, n) => from.getTime() + Math.floor(Math.exp(-draw(n, 1)) * (to.getTime() - from.getTime())),
  );
  // Each call has another caller, whose number is withheld.
  const common = {
    caller_number: null,
    traffic_source_id: null,
    source_payouts: [],
    suppressed: new Map(),
    previous_buyer_id: null,
    paid_at: new Map(),
    seeds: [],
    attempts: [],
    talked: null,
    gave_up_after: null,
  };
  return times
    .toSorted((a, b) => a - b)
    .map((at, n) => ({
      ...common,
      id: n + 1,
      at: new Date(at),
      facts: factsOf(facts, {
        caller_number: null,
        tokens,
        origin: NO_ORIGIN,
        max_legs: carrier.max_legs,
        can_whisper: carrier.can_whisper,
        found: { members },
      }),
    }));
}

export function realCalls(
  past: readonly PastCall[],
  facts: CallFacts,
  callers: Callers,
  { members, carrier }: { members: Members; carrier: OwnCarrier },
): ReplayedCall[] {
  const factsOfCaller = callerFacts(callers);
  return past.map((call): ReplayedCall => {
    const { caller_number, token_values, previous_fleets, calls_last } = call;
    const { blacklisted, suppressed_by, ...rest } = factsOfCaller(caller_number);
    const own = {
      ...facts,
      blacklisted,
      suppressed_by,
      previous_fleets: previous_fleets ?? [],
      calls_last: calls_last ?? NO_CALLS,
    };
    return {
      id: call.id,
      at: call.at,
      caller_number,
      traffic_source_id: call.traffic_source_id,
      source_payouts: call.source?.payouts ?? [],
      seeds: call.seeds,
      talked: call.talked,
      gave_up_after: call.gave_up_after,
      attempts: call.attempts.map((attempt) => attemptOf(attempt, call)),
      bids: new Map(call.bids.map(({ buyer_id, ...bid }) => [buyer_id, bidOf(bid)])),
      ...rest,
      facts: factsOf(own, {
        caller_number,
        tokens: token_values ?? {},
        origin: call,
        max_legs: maxLegsOf(call.carrier ?? ''),
        can_whisper: canWhisper(call.carrier ?? '', carrier),
        source_fault: call.source
          ? sourceFault({ ...call.source, limits: null }, 0, call.at)
          : undefined,
        source_buyers: call.source ? sourceBuyersOf(call.source) : undefined,
        found: { members, user_traffic_source_id: call.user_traffic_source_id },
      }),
    };
  });
}

const bidOf = ({ bid, expires_at, ...rest }: Omit<PastCall['bids'][number], 'buyer_id'>) => ({
  ...rest,
  amount: bid,
  expires_at: new Date(expires_at),
});

function attemptOf(
  { buyer_id, connected, status, rang, revenue }: PastCall['attempts'][number],
  { repeat_caller }: PastCall,
): RealAttempt {
  if (connected)
    return {
      buyer_id,
      status: 'connected',
      rang,
      revenue: revenue ?? (repeat_caller ? undefined : null),
    };
  return {
    buyer_id,
    status: status === 'released' || status === 'canceled' ? status : 'unanswered',
    rang,
  };
}

function callerFacts({ blacklisted, lists, previous, paid }: Callers) {
  const blocked = new Set(blacklisted);
  const previous_of = new Map(previous.map(({ number, buyer_id }) => [number, buyer_id]));
  const payments_of = groupedBy(paid, ({ number }) => number);
  const lists_of = groupedBy(
    lists.flatMap(({ numbers, ...list }) => numbers.map((number) => ({ number, ...list }))),
    ({ number }) => number,
  );
  return (number: number | null) => {
    const own_lists = number === null ? [] : (lists_of.get(number) ?? []);
    const payments = number === null ? [] : (payments_of.get(number) ?? []);
    return {
      blacklisted: number !== null && blocked.has(number),
      suppressed_by: own_lists.filter(({ of_offer }) => of_offer).map(suppressionOf),
      suppressed: suppressionsByBuyer(own_lists),
      previous_buyer_id: (number === null ? undefined : previous_of.get(number)) ?? null,
      paid_at: new Map(payments.map(({ buyer_id, at }) => [buyer_id, new Date(at)])),
    };
  };
}

const suppressionOf = ({ id, name }: Suppression): Suppression => ({ id, name });

function suppressionsByBuyer(
  lists: readonly (Suppression & { buyer_ids: number[] })[],
): Map<number, Suppression[]> {
  const by_buyer = groupedBy(
    lists.flatMap((list) =>
      list.buyer_ids.map((buyer_id) => ({ buyer_id, list: suppressionOf(list) })),
    ),
    ({ buyer_id }) => buyer_id,
  );
  return new Map([...by_buyer].map(([buyer_id, rows]) => [buyer_id, rows.map(({ list }) => list)]));
}

/** Adds the real results of calls, by buyer. */
export function countReal(by_buyer: Map<number, Counts>, past: readonly PastCall[]): void {
  const countsOf = (buyer_id: number): Counts => {
    const counts = by_buyer.get(buyer_id) ?? { ...NO_COUNTS };
    by_buyer.set(buyer_id, counts);
    return counts;
  };
  for (const { buyer_id, payout, attempts } of past) {
    if (buyer_id !== null) {
      const counts = countsOf(buyer_id);
      counts.calls++;
      counts.payout = cents(counts.payout + payout);
    }
    for (const { buyer_id: tried, connected, revenue } of attempts) {
      const counts = countsOf(tried);
      counts.attempts++;
      if (connected) counts.connects++;
      if (revenue !== null) counts.conversions++;
      counts.revenue = cents(counts.revenue + (revenue ?? 0));
    }
  }
}
