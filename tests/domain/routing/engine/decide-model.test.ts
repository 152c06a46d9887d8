import fc from 'fast-check';
import { buildBasis, type StoredBasis } from '../../../../src/domain/routing/engine/basis';
import type { Candidate, CandidateGroup } from '../../../../src/domain/routing/engine/candidate';
import type { UsedUpCap } from '../../../../src/domain/caps/caps';
import { decide, type CallColumns } from '../../../../src/domain/routing/engine/decide';
import {
  updateColumns,
  buildColumns,
  type CandidateColumns,
} from '../../../../src/domain/routing/engine/lineup';
import {
  buildDecision,
  packDecision,
  unpackDecision,
} from '../../../../src/domain/routing/engine/decision';
import { formatDecision } from '../../../../src/domain/routing/engine/explanation';
import {
  orderCandidates,
  route,
  type RouteFacts,
} from '../../../../src/domain/routing/engine/route';
import { openMinutes } from '../../../../src/platform/time/opening-hours';
import { ownTokens } from '../../../../src/platform/tokens/substitute';
import { buyer, group } from '../../../support/candidates';
import { repetitions } from '../../../support/repetitions';

/** Monday 08:30 in New York. */
const NOW = new Date('2026-06-01T12:30:00Z');

const caps = fc.constantFrom(
  null,
  null,
  null,
  null,
  'attempt_daily' as const,
  'concurrency' as const,
);
const groups = fc.array(
  fc.record({
    at_once: fc.boolean(),
    paused: fc.constantFrom(false, false, false, true),
    cap: caps,
    tier: fc.integer({ min: -2, max: 2 }),
    weight: fc.nat(3),
  }),
  { maxLength: 4 },
);
const rarely = fc.constantFrom(false, false, false, false, false, false, true);
const buyers = fc.array(
  fc.record({
    gap: fc.integer({ min: 1, max: 3 }),
    tier: fc.integer({ min: -2, max: 2 }),
    weight: fc.nat(2),
    by: fc.constantFrom('tier' as const, 'tier' as const, 'revenue' as const, 'epc' as const),
    epc: fc.constantFrom(null, 0, 1, 2.5, -1),
    revenue: fc.constantFrom(null, 0, 1, 2.5),
    direct: fc.boolean(),
    in_groups: fc.uniqueArray(fc.nat(3)),
    paused: rarely,
    closed: rarely,
    suppressed: rarely,
    filtered: rarely,
    no_number: rarely,
    tried: rarely,
    paid: rarely,
    vetoed: rarely,
    reserved: rarely,
    used: fc.tuple(caps, fc.nat(9)),
    seconds_ago: fc.constantFrom(null, null, 0, 0.001, 7, 29.999, 30, 90_000),
  }),
  { maxLength: 14 },
);
const worlds = fc.record({
  groups,
  buyers,
  seed: fc.string(),
  only: fc.option(fc.nat(13), { freq: 4 }),
  first: fc.option(fc.nat(13)),
  max_legs: fc.constantFrom(undefined, 1, 2, 3, 10),
  is_reserved: rarely,
  refused: rarely,
});

const usedUp = (cap: UsedUpCap['cap'] | null, used = 5): UsedUpCap | null =>
  cap ? { cap, used, limit: 5, resets_at: null } : null;

/** The candidate without the effects of calls. */
const stripCallEffects = (candidate: Candidate): Candidate => ({
  ...candidate,
  epc: null,
  used_up: null,
  last_call_at: null,
  suppressed_by: [],
  groups: candidate.groups.map((candidateGroup) => ({ ...candidateGroup, used_up: null })),
});

/** Facts of a call for which only filters and the caller's number matter. */
const USUAL: Partial<RouteFacts> = {
  refused: undefined,
  only_buyer_id: undefined,
  tried: new Set(),
  reserved: undefined,
  vetoed: undefined,
  pays_again_at: new Map(),
  spacing_seconds: 0,
};

/** The lineup of an offer after calls, for a caller who is on lists. */
function lineUpCandidates(candidates: readonly Candidate[]): CallColumns {
  const before = candidates.map(stripCallEffects);
  const basis = buildBasis(before);
  const after = candidates.map((candidate) => ({ ...candidate, suppressed_by: [] }));
  const indexes = [...candidates.keys()];
  const change = (
    lineup: CandidateColumns,
    changed: readonly Candidate[],
    at: readonly number[],
  ) => {
    const next = updateColumns(lineup, changed, { indexes: at, basis, now: NOW });
    expect(next).toEqual(buildColumns(changed, basis, NOW));
    return next;
  };
  const lineup = change(buildColumns(before, basis, NOW)!, after, indexes);
  // Back again, one after the other, and the last ones first.
  const current: Candidate[] = [...after];
  indexes.toReversed().reduce((previous, index) => {
    current[index] = before[index]!;
    return change(previous, current, [index]);
  }, lineup);
  const apart = indexes.filter((n) => candidates[n]!.suppressed_by.length > 0);
  return { columns: lineup, overridden: new Set(apart) };
}

test.each([
  ['of any call', false],
  ['of a usual call, by the lineup of its offer', true],
])('a decision %s names the first choice of the route, and unpacks to all of it', (_, isUsual) => {
  fc.assert(
    fc.property(worlds, (world) => {
      const builtGroups = world.groups.map(({ at_once, cap, ...fields }, n): CandidateGroup =>
        group({
          ...fields,
          id: n + 1,
          used_up: usedUp(cap),
          dial_buyers_type: at_once && !isUsual ? 'simultaneously' : 'sequentially',
        }),
      );
      let id = 0;
      const ids = world.buyers.map(({ gap }) => (id += gap));
      const candidates = world.buyers.map((drawn, n): Candidate => {
        const through = drawn.in_groups.flatMap((index) => builtGroups[index] ?? []);
        return buyer({
          id: ids[n]!,
          name: `buyer ${n}`,
          tier: drawn.tier,
          weight: drawn.weight,
          route_by_type: isUsual && drawn.by === 'epc' ? 'revenue' : drawn.by,
          epc: drawn.epc,
          current_conversion_revenue: drawn.revenue,
          direct: drawn.direct || through.length === 0,
          groups: through,
          paused: drawn.paused,
          used_up: usedUp(...drawn.used),
          number: drawn.no_number ? null : '+12125550100',
          business_hours: [openMinutes([{ day: drawn.closed ? 2 : 1, times: ['08:00..09:00'] }])],
          suppressed_by: drawn.suppressed ? [{ id: 4, name: 'DNC' }] : [],
          record_token_filter_list: drawn.filtered ? ['state:CA'] : [],
          last_call_at:
            drawn.seconds_ago === null ? null : new Date(NOW.getTime() - drawn.seconds_ago * 1000),
        });
      });
      const having = (fault: 'tried' | 'paid' | 'vetoed' | 'reserved') =>
        world.buyers.flatMap((drawn, n) => (drawn[fault] ? [ids[n]!] : []));
      const facts: RouteFacts = {
        now: NOW,
        seed: world.seed,
        tokens: ownTokens({ state: 'TX' }),
        refused: world.refused ? { reason: 'blacklisted', message: 'no' } : undefined,
        tried: new Set(having('tried')),
        spacing_seconds: 30,
        only_buyer_id: world.only === null ? undefined : ids[world.only],
        first_buyer_id: world.first === null ? undefined : ids[world.first],
        max_legs: world.max_legs,
        ...(world.is_reserved && { reserved: new Set(having('reserved')) }),
        vetoed: new Map(having('vetoed').map((n) => [n, { outgoing_webhook_id: 1, reason: 'v' }])),
        pays_again_at: new Map(
          having('paid').map((n) => [n, new Date(NOW.getTime() + 60_000 + n)]),
        ),
        ...(isUsual && USUAL),
      };
      const routed = route(candidates, facts);
      const evaluation = decide(
        candidates,
        facts,
        isUsual ? lineUpCandidates(candidates) : undefined,
      );
      expect(evaluation.columns !== undefined).toBe(isUsual);
      const [first] = routed.choices;
      expect(evaluation.first?.members).toEqual(first?.members);
      expect(evaluation.first?.group).toEqual(first?.group);
      const verdict = {
        round: 1,
        at: NOW.toISOString(),
        seed: world.seed,
        offer_id: 1,
        action: 'dial' as const,
        reason: null,
        message: null,
        buyer_ids: first?.members.map((member) => member.buyer.id) ?? [],
        bids: [],
        caps: [],
      };
      const basis = buildBasis(candidates.map(stripCallEffects));
      const packed = JSON.parse(
        JSON.stringify(packDecision(verdict, evaluation, basis)),
      ) as ReturnType<typeof packDecision>;
      const names = new Map(candidates.map(({ id: n, name }) => [n, name]));
      const decision = buildDecision(verdict, routed.considered);
      expect(unpackDecision(packed, JSON.parse(basis.text) as StoredBasis, names)).toEqual(
        decision,
      );
      const text = formatDecision(verdict, orderCandidates(candidates, facts)).join('');
      expect(text).toBe(JSON.stringify(decision));
    }),
    { numRuns: repetitions(300, 3_000) },
  );
});
