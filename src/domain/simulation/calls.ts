import { findRingRules, type OwnCarrier, type RingRules } from '../../platform/carriers/carrier';
import type { CallFacts } from '../routing/context';
import { drawBy } from '../routing/engine/draw';
import type { Candidate, CandidateGroup, Suppression } from '../routing/engine/candidate';
import { cents } from '../money/engine/payout';
import {
  toSourceBuyers,
  sourceFault,
  type SourceBuyers,
  type SourceFault,
} from '../routing/engine/source';
import { setLookups, type ListLookups } from '../../platform/tokens/filter-lookups';
import { NO_ORIGIN, buildRouteFacts, type CallOrigin } from '../routing/route-facts';
import { NO_COUNTS, type Counts } from './change';
import type { Configuration, ReplayedCall, RoundFacts } from './model';
import type { RealAttempt } from './outcome';
import type { Callers, PastCall, Setup } from './read';

// Builds the input of a replay from the loaded offer and its calls. Pure.

function groupBy<T, K>(all: readonly T[], toKey: (row: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const row of all) {
    const key = toKey(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}

/** The groups through which the offer reaches buyers, each once. */
export const listGroups = (candidates: readonly Candidate[]): CandidateGroup[] => [
  ...new Map(
    candidates.flatMap(({ groups }) => groups.map((group) => [group.id, group] as const)),
  ).values(),
];

export function buildConfiguration(
  candidates: readonly Candidate[],
  { caps, hours, conversions }: Setup,
  { offer }: CallFacts,
): Configuration {
  const hoursByBuyer = groupBy(hours, ({ buyer_id }) => buyer_id);
  const conversionsByBuyer = groupBy(conversions, ({ buyer_id }) => buyer_id);
  const capsByOwner = new Map(
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
    groups: listGroups(candidates).map((group) => ({
      group,
      caps: capsByOwner.get(`group/${group.id}`) ?? noCaps(group.zone),
    })),
    buyers: candidates.map((candidate) => ({
      candidate,
      caps: {
        ...(capsByOwner.get(`buyer/${candidate.id}`) ?? noCaps(candidate.zone)),
        hours: hoursByBuyer.get(candidate.id) ?? [],
      },
      conversions: conversionsByBuyer.get(candidate.id) ?? [],
    })),
  };
}

const NO_CALLS = { 1: 0, 7: 0, 30: 0, 90: 0 };

interface CallerAndTokens {
  caller_number: number | null;
  tokens: Record<string, unknown>;
  origin: CallOrigin;
  rules: RingRules;
  source_fault?: SourceFault | undefined;
  source_buyers?: SourceBuyers | undefined;
  /** Data for filters; its sets may be filled later. */
  lookups: ListLookups;
}

const buildFacts =
  (
    facts: CallFacts,
    { caller_number, tokens, origin, rules, lookups, ...sourceFacts }: CallerAndTokens,
  ) =>
  ({ now, seed, tried, previous_buyer_id, pays_again_at, source_fault }: RoundFacts) => {
    const paid = [...pays_again_at].map(([buyerId, at]) => ({
      buyer_id: buyerId,
      pays_again_at: at.toISOString(),
    }));
    const routeFacts = buildRouteFacts(
      { ...facts, previous_buyer_id, paid },
      {
        ...{ now, seed, caller_number, tokens, origin, tried },
        ...rules,
        ...sourceFacts,
        source_fault: sourceFacts.source_fault ?? source_fault,
      },
    );
    setLookups(routeFacts.tokens, lookups);
    return routeFacts;
  };

/** Memberships in lists that filters of any call refer to. */
export type Members = Set<string>;

interface SyntheticCalls {
  calls: number;
  tokens: Record<string, unknown>;
  carrier: OwnCarrier;
}

/** Calls at random times, evenly distributed over a period. */
export function buildSyntheticCalls(
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
      facts: buildFacts(facts, {
        caller_number: null,
        tokens,
        origin: NO_ORIGIN,
        rules: findRingRules(carrier.name, carrier),
        lookups: { members },
      }),
    }));
}

export function buildRealCalls(
  past: readonly PastCall[],
  facts: CallFacts,
  callers: Callers,
  { members, carrier }: { members: Members; carrier: OwnCarrier },
): ReplayedCall[] {
  const factsOfCaller = buildCallerFacts(callers);
  return past.map((call): ReplayedCall => {
    const { caller_number, token_values, previous_fleets, calls_last } = call;
    const { blacklisted, suppressed_by, ...rest } = factsOfCaller(caller_number);
    const callFacts = {
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
      attempts: call.attempts.map((attempt) => toRealAttempt(attempt, call)),
      bids: new Map(call.bids.map(({ buyer_id, ...bid }) => [buyer_id, toBid(bid)])),
      ...rest,
      facts: buildFacts(callFacts, {
        caller_number,
        tokens: token_values ?? {},
        origin: call,
        rules: findRingRules(call.carrier ?? '', carrier),
        source_fault: call.source
          ? sourceFault({ ...call.source, limits: null }, 0, call.at)
          : undefined,
        source_buyers: call.source ? toSourceBuyers(call.source) : undefined,
        lookups: { members, user_traffic_source_id: call.user_traffic_source_id },
      }),
    };
  });
}

const toBid = ({ bid, expires_at, ...rest }: Omit<PastCall['bids'][number], 'buyer_id'>) => ({
  ...rest,
  amount: bid,
  expires_at: new Date(expires_at),
});

function toRealAttempt(
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

function buildCallerFacts({ blacklisted, lists, previous, paid }: Callers) {
  const blocked = new Set(blacklisted);
  const previousBuyers = new Map(previous.map(({ number, buyer_id }) => [number, buyer_id]));
  const paymentsByNumber = groupBy(paid, ({ number }) => number);
  const listsByNumber = groupBy(
    lists.flatMap(({ numbers, ...list }) => numbers.map((number) => ({ number, ...list }))),
    ({ number }) => number,
  );
  return (number: number | null) => {
    const ownLists = number === null ? [] : (listsByNumber.get(number) ?? []);
    const payments = number === null ? [] : (paymentsByNumber.get(number) ?? []);
    return {
      blacklisted: number !== null && blocked.has(number),
      suppressed_by: ownLists.filter(({ of_offer }) => of_offer).map(toSuppression),
      suppressed: groupSuppressions(ownLists),
      previous_buyer_id: (number === null ? undefined : previousBuyers.get(number)) ?? null,
      paid_at: new Map(payments.map(({ buyer_id, at }) => [buyer_id, new Date(at)])),
    };
  };
}

const toSuppression = ({ id, name }: Suppression): Suppression => ({ id, name });

function groupSuppressions(
  lists: readonly (Suppression & { buyer_ids: number[] })[],
): Map<number, Suppression[]> {
  const byBuyer = groupBy(
    lists.flatMap((list) =>
      list.buyer_ids.map((buyerId) => ({ buyer_id: buyerId, list: toSuppression(list) })),
    ),
    ({ buyer_id }) => buyer_id,
  );
  return new Map([...byBuyer].map(([buyerId, rows]) => [buyerId, rows.map(({ list }) => list)]));
}

/** Adds the real results of calls, by buyer. */
export function countReal(byBuyer: Map<number, Counts>, past: readonly PastCall[]): void {
  const getCounts = (buyerId: number): Counts => {
    const counts = byBuyer.get(buyerId) ?? { ...NO_COUNTS };
    byBuyer.set(buyerId, counts);
    return counts;
  };
  for (const { buyer_id, payout, attempts } of past) {
    if (buyer_id !== null) {
      const counts = getCounts(buyer_id);
      counts.calls++;
      counts.payout = cents(counts.payout + payout);
    }
    for (const { buyer_id: tried, connected, revenue } of attempts) {
      const counts = getCounts(tried);
      counts.attempts++;
      if (connected) counts.connects++;
      if (revenue !== null) counts.conversions++;
      counts.revenue = cents(counts.revenue + (revenue ?? 0));
    }
  }
}
