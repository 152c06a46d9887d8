import fc from 'fast-check';
import { basisOf, type StoredBasis } from '../../../src/routing/engine/basis';
import type { Candidate, CandidateGroup, UsedUpCap } from '../../../src/routing/engine/candidate';
import { decide, type LinedUp } from '../../../src/routing/engine/decide';
import { changedLineup, lineupOf, type Lineup } from '../../../src/routing/engine/lineup';
import { decisionOf, packDecision, unpackDecision } from '../../../src/routing/engine/decision';
import { decisionParts } from '../../../src/routing/engine/explanation';
import { orderOf, route, type RouteFacts } from '../../../src/routing/engine/route';
import { openMinutes } from '../../../src/time/opening-hours';
import { ownTokens } from '../../../src/tokens/substitute';
import { buyer, group } from '../../support/candidates';

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
const plain = (one: Candidate): Candidate => ({
  ...one,
  epc: null,
  used_up: null,
  last_call_at: null,
  suppressed_by: [],
  groups: one.groups.map((each) => ({ ...each, used_up: null })),
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
function linedUp(candidates: readonly Candidate[]): LinedUp {
  const before = candidates.map(plain);
  const basis = basisOf(before);
  const after = candidates.map((one) => ({ ...one, suppressed_by: [] }));
  const places = [...candidates.keys()];
  const change = (lineup: Lineup, changed: readonly Candidate[], at: readonly number[]) => {
    const next = changedLineup(lineup, changed, { places: at, basis, now: NOW });
    expect(next).toEqual(lineupOf(changed, basis, NOW));
    return next;
  };
  const lineup = change(lineupOf(before, basis, NOW)!, after, places);
  // Back again, one after the other, and the last ones first.
  const current: Candidate[] = [...after];
  places.toReversed().reduce((known, place) => {
    current[place] = before[place]!;
    return change(known, current, [place]);
  }, lineup);
  const apart = places.filter((n) => candidates[n]!.suppressed_by.length > 0);
  return { lineup, apart: new Set(apart) };
}

test.each([
  ['of any call', false],
  ['of a usual call, by the lineup of its offer', true],
])('a decision %s names the first choice of the route, and unpacks to all of it', (_, is_usual) => {
  fc.assert(
    fc.property(worlds, (world) => {
      const made = world.groups.map(({ at_once, cap, ...each }, n): CandidateGroup =>
        group({
          ...each,
          id: n + 1,
          used_up: usedUp(cap),
          dial_buyers_type: at_once && !is_usual ? 'simultaneously' : 'sequentially',
        }),
      );
      let id = 0;
      const ids = world.buyers.map(({ gap }) => (id += gap));
      const candidates = world.buyers.map((one, n): Candidate => {
        const through = one.in_groups.flatMap((place) => made[place] ?? []);
        return buyer({
          id: ids[n]!,
          name: `buyer ${n}`,
          tier: one.tier,
          weight: one.weight,
          route_by_type: is_usual && one.by === 'epc' ? 'revenue' : one.by,
          epc: one.epc,
          current_conversion_revenue: one.revenue,
          direct: one.direct || through.length === 0,
          groups: through,
          paused: one.paused,
          used_up: usedUp(...one.used),
          number: one.no_number ? null : '+12125550100',
          business_hours: [openMinutes([{ day: one.closed ? 2 : 1, times: ['08:00..09:00'] }])],
          suppressed_by: one.suppressed ? [{ id: 4, name: 'DNC' }] : [],
          record_token_filter_list: one.filtered ? ['state:CA'] : [],
          last_call_at:
            one.seconds_ago === null ? null : new Date(NOW.getTime() - one.seconds_ago * 1000),
        });
      });
      const having = (fault: 'tried' | 'paid' | 'vetoed' | 'reserved') =>
        world.buyers.flatMap((each, n) => (each[fault] ? [ids[n]!] : []));
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
        ...(is_usual && USUAL),
      };
      const routed = route(candidates, facts);
      const judged = decide(candidates, facts, is_usual ? linedUp(candidates) : undefined);
      expect(judged.lineup !== undefined).toBe(is_usual);
      const [first] = routed.choices;
      expect(judged.first?.members).toEqual(first?.members);
      expect(judged.first?.group).toEqual(first?.group);
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
      const basis = basisOf(candidates.map(plain));
      const stored = JSON.parse(JSON.stringify(packDecision(verdict, judged, basis))) as ReturnType<
        typeof packDecision
      >;
      const names = new Map(candidates.map(({ id: n, name }) => [n, name]));
      const decision = decisionOf(verdict, routed.considered);
      expect(unpackDecision(stored, JSON.parse(basis.text) as StoredBasis, names)).toEqual(
        decision,
      );
      const text = decisionParts(verdict, orderOf(candidates, facts)).join('');
      expect(text).toBe(JSON.stringify(decision));
    }),
    { numRuns: 3_000 },
  );
});
