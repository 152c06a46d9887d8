import type { CallFacts } from '../queries/caller-facts';
import type { Callers, PastCall, Setup } from './queries/replayed-calls';
import { drawBy } from '../engine/draw';
import type { Candidate, CandidateGroup } from '../engine/eligibility';
import { cents } from '../engine/payout';
import type { Configuration, Looking, ReplayedCall } from './replay';
import { NO_COUNTS, type Counts } from './change';
import type { RealAttempt } from './outcome';
import { routeFacts } from '../route-facts';

// What was read of an offer and its calls, as a replay takes it. Pure.

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

/** The groups through which buyers come to the offer, each once. */
export const groupsOf = (candidates: readonly Candidate[]): CandidateGroup[] => [
  ...new Map(
    candidates.flatMap(({ groups }) => groups.map((group) => [group.id, group] as const)),
  ).values(),
];

/** The offer as it is configured now. */
export function configurationOf(
  candidates: readonly Candidate[],
  { caps, hours, conversions }: Setup,
  { offer }: CallFacts,
): Configuration {
  const of_buyer = groupedBy(hours, ({ buyer_id }) => buyer_id);
  const paid_for = groupedBy(conversions, ({ buyer_id }) => buyer_id);
  const own = new Map(
    caps.map((row) => [
      row.buyer_id === null ? `group/${row.buyer_group_id}` : `buyer/${row.buyer_id}`,
      row,
    ]),
  );
  const none = (zone: string) => ({ zone, limits: {}, used: {} });
  return {
    payouts: offer.payouts,
    groups: groupsOf(candidates).map((group) => ({
      group,
      caps: own.get(`group/${group.id}`) ?? none(group.zone),
    })),
    buyers: candidates.map((candidate) => ({
      candidate,
      caps: {
        ...(own.get(`buyer/${candidate.id}`) ?? none(candidate.zone)),
        hours: of_buyer.get(candidate.id) ?? [],
      },
      conversions: paid_for.get(candidate.id) ?? [],
    })),
  };
}

const NO_CALLS = { 1: 0, 7: 0, 30: 0, 90: 0 };

/** The facts of one call, from what all calls of the offer have in common. */
const factsOf =
  (
    facts: CallFacts,
    { caller_number, tokens }: { caller_number: number | null; tokens: Record<string, unknown> },
  ) =>
  ({ now, seed, tried, previous_buyer_id, pays_again_at }: Looking) => {
    const paid = [...pays_again_at].map(([buyer_id, at]) => ({
      buyer_id,
      pays_again_at: at.toISOString(),
    }));
    return routeFacts(
      { ...facts, previous_buyer_id, paid },
      { now, seed, caller_number, tokens, tried },
    );
  };

/** Calls at times drawn evenly from a period. */
export function syntheticCalls(
  facts: CallFacts,
  { calls, tokens }: { calls: number; tokens: Record<string, unknown> },
  { from, to, seed }: { from: Date; to: Date; seed: string },
): ReplayedCall[] {
  const draw = drawBy(`${seed}/arrivals`);
  const times = Array.from(
    { length: calls },
    (_, n) =>
      from.getTime() +
      Math.floor(Math.exp(-draw({ key: n, weight: 1 })) * (to.getTime() - from.getTime())),
  );
  // Nobody knows these callers: each calls once.
  const common = {
    caller_number: null,
    traffic_source_id: null,
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
      facts: factsOf(facts, { caller_number: null, tokens }),
    }));
}

/** Calls that have come, to be replayed. */
export function realCalls(
  past: readonly PastCall[],
  facts: CallFacts,
  callers: Callers,
): ReplayedCall[] {
  const knownOf = known(callers);
  return past.map((call): ReplayedCall => {
    const { caller_number, token_values, previous_fleets, calls_last } = call;
    const { blacklisted, suppressed_by, ...rest } = knownOf(caller_number);
    const own = {
      ...facts,
      blacklisted,
      suppressed_by,
      previous_fleets: previous_fleets ?? [],
      calls_last: calls_last ?? NO_CALLS,
    };
    const { id, at, traffic_source_id, seeds, talked, gave_up_after } = call;
    const attempts = call.attempts.map((attempt) => attemptOf(attempt, call));
    const told = {
      id,
      at,
      caller_number,
      traffic_source_id,
      seeds,
      talked,
      gave_up_after,
      attempts,
    };
    return { ...told, ...rest, facts: factsOf(own, { caller_number, tokens: token_values ?? {} }) };
  });
}

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

/** What is known of each caller. */
function known({ blacklisted, lists, previous, paid }: Callers) {
  const blocked = new Set(blacklisted);
  const before = new Map(previous.map(({ number, buyer_id }) => [number, buyer_id]));
  const payments = groupedBy(paid, ({ number }) => number);
  const holding = groupedBy(
    lists.flatMap(({ numbers, ...list }) => numbers.map((number) => ({ number, ...list }))),
    ({ number }) => number,
  );
  return (number: number | null) => {
    const of_caller = number === null ? [] : (holding.get(number) ?? []);
    const told = ({ id, name }: { id: number; name: string }) => ({ id, name });
    const suppressed = groupedBy(
      of_caller.flatMap((list) =>
        list.buyer_ids.map((buyer_id) => ({ buyer_id, list: told(list) })),
      ),
      ({ buyer_id }) => buyer_id,
    );
    return {
      blacklisted: number !== null && blocked.has(number),
      suppressed_by: of_caller.filter(({ of_offer }) => of_offer).map(told),
      suppressed: new Map(
        [...suppressed].map(([buyer_id, rows]) => [buyer_id, rows.map(({ list }) => list)]),
      ),
      previous_buyer_id: (number === null ? undefined : before.get(number)) ?? null,
      paid_at: new Map(
        (number === null ? [] : (payments.get(number) ?? [])).map(({ buyer_id, at }) => [
          buyer_id,
          new Date(at),
        ]),
      ),
    };
  };
}

/** Adds what calls have really come to, by buyer. */
export function countReal(by_buyer: Map<number, Counts>, past: readonly PastCall[]): void {
  const of = (buyer_id: number): Counts => {
    const counts = by_buyer.get(buyer_id) ?? { ...NO_COUNTS };
    by_buyer.set(buyer_id, counts);
    return counts;
  };
  for (const { buyer_id, payout, attempts } of past) {
    if (buyer_id !== null) {
      const counts = of(buyer_id);
      counts.calls++;
      counts.payout = cents(counts.payout + payout);
    }
    for (const { buyer_id: tried, connected, revenue } of attempts) {
      const counts = of(tried);
      counts.attempts++;
      if (connected) counts.connects++;
      if (revenue !== null) counts.conversions++;
      counts.revenue = cents(counts.revenue + (revenue ?? 0));
    }
  }
}
