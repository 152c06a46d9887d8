import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { UsedUpCap } from '../../../../src/domain/caps/caps';
import type { Candidate, CandidateGroup } from '../../../../src/domain/routing/engine/candidate';
import { drawBy } from '../../../../src/domain/routing/engine/draw';
import {
  evaluate,
  listPlainCandidates,
  type RouteFacts,
} from '../../../../src/domain/routing/engine/evaluate';
import {
  buildBasis,
  buildDecision,
  packDecision,
  unpackDecision,
  type StoredBasis,
} from '../../../../src/domain/routing/engine/explain';
import { orderChoices, pickFirst } from '../../../../src/domain/routing/engine/order';
import { REASONS, type Reason } from '../../../../src/domain/routing/engine/reasons';
import { openMinutes } from '../../../../src/platform/time/opening-hours';
import { ownTokens } from '../../../../src/platform/tokens/substitute';
import { buildVerdict, buyer, group } from '../../../support/candidates';
import { repetitions } from '../../../support/repetitions';

// The evaluation and the order of candidates, compared with a plain model, which shares nothing
// with them but the draw of one entry.

/** Monday 08:30 in New York. */
const NOW = new Date('2026-06-01T12:30:00Z');

const rarely = fc.constantFrom(false, false, false, false, false, false, true);
const caps = fc.constantFrom(
  ...[null, null, null, null, 'attempt_daily' as const, 'concurrency' as const],
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
const FAULTS = [
  ...(['paused', 'closed', 'suppressed', 'filtered', 'no_number', 'needs_key', 'bidder'] as const),
  ...(['needs_tones', 'at_sip'] as const),
  ...(['tried', 'paid', 'vetoed', 'reserved', 'blocked'] as const),
];
type DrawnFaults = Record<(typeof FAULTS)[number], boolean>;
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
    used: fc.tuple(caps, fc.nat(9)),
    seconds_ago: fc.constantFrom(null, null, 0, 0.001, 7, 29.999, 30, 90_000),
    faults: fc.record(
      Object.fromEntries(FAULTS.map((name) => [name, rarely])) as Record<string, typeof rarely>,
    ) as fc.Arbitrary<DrawnFaults>,
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
  /** The offer has no rules that exclude single buyers. */
  is_usual: fc.boolean(),
  can_whisper: fc.constantFrom(undefined, true, false),
  can_play_tones: fc.constantFrom(undefined, true, true, false),
  refused: fc.constantFrom(
    ...Array<undefined>(9).fill(undefined),
    ...(['blacklisted', 'offer_paused', 'offer_suppressed'] as const),
  ),
});
type World = typeof worlds extends fc.Arbitrary<infer T> ? T : never;

const usedUp = (cap: UsedUpCap['cap'] | null, used = 5): UsedUpCap | null =>
  cap ? { cap, used, limit: 5, resets_at: null } : null;

function buildCandidates(world: World): Candidate[] {
  const builtGroups = world.groups.map(({ at_once, cap, ...fields }, n): CandidateGroup =>
    group({
      ...fields,
      id: n + 1,
      used_up: usedUp(cap),
      dial_buyers_type: at_once ? 'simultaneously' : 'sequentially',
    }),
  );
  let id = 0;
  return world.buyers.map((drawn, n): Candidate => {
    const through = drawn.in_groups.flatMap((index) => builtGroups[index] ?? []);
    const { faults } = drawn;
    return buyer({
      id: (id += drawn.gap),
      name: `buyer ${n}`,
      tier: drawn.tier,
      weight: drawn.weight,
      route_by_type: drawn.by,
      epc: drawn.epc,
      current_conversion_revenue: drawn.revenue,
      direct: drawn.direct || through.length === 0,
      groups: through,
      paused: faults.paused,
      used_up: usedUp(...drawn.used),
      number: faults.no_number ? null : pickNumber(faults),
      dtmf_tones: faults.needs_tones ? 'w1' : null,
      press_one_to_accept: faults.needs_key,
      buyer_type: faults.bidder ? 'rtb' : 'buyer',
      business_hours: [openMinutes([{ day: faults.closed ? 2 : 1, times: ['08:00..09:00'] }])],
      suppressed_by: faults.suppressed ? [{ id: 4, name: 'DNC' }] : [],
      record_token_filter_list: faults.filtered ? ['state:CA'] : [],
    });
  });
}

function buildFacts(world: World, candidates: readonly Candidate[]): RouteFacts {
  const having = (fault: keyof DrawnFaults) =>
    candidates.filter((_, n) => world.buyers[n]!.faults[fault]).map(({ id }) => id);
  const usual = {
    now: NOW,
    seed: world.seed,
    tokens: ownTokens({ state: 'TX' }),
    first_buyer_id: world.first === null ? undefined : candidates[world.first]?.id,
    max_legs: world.max_legs,
    can_whisper: world.can_whisper,
    can_play_tones: world.can_play_tones,
  };
  if (world.is_usual) return usual;
  return {
    ...usual,
    refused: world.refused && { reason: world.refused, message: 'no' },
    tried: new Set(having('tried')),
    spacing_seconds: 30,
    last_calls: new Map(
      candidates.flatMap(({ id }, n) => {
        const { seconds_ago } = world.buyers[n]!;
        return seconds_ago === null ? [] : [[id, new Date(NOW.getTime() - seconds_ago * 1000)]];
      }),
    ),
    only_buyer_id: world.only === null ? undefined : candidates[world.only]?.id,
    ...(world.is_reserved && { reserved: new Set(having('reserved')) }),
    source_buyers: { blocked: new Set(having('blocked')) },
    vetoed: new Map(having('vetoed').map((n) => [n, { outgoing_webhook_id: 1, reason: 'v' }])),
    pays_again_at: new Map(having('paid').map((n) => [n, new Date(NOW.getTime() + 60_000 + n)])),
  };
}

const pickNumber = ({ at_sip }: DrawnFaults): string =>
  at_sip ? 'sip:desk@example.com' : '+12125550100';

const toReason = (cap: UsedUpCap['cap']): Reason =>
  cap === 'concurrency' ? 'concurrency_full' : 'cap_reached';

/** The first in the order of REASONS of everything that keeps a call from a buyer. */
function findReason(
  candidate: Candidate,
  facts: RouteFacts,
  faults: DrawnFaults,
): Reason | undefined {
  const { id } = candidate;
  const reasons = new Set<Reason>();
  const add = (reason: Reason, holds: unknown) => void (holds && reasons.add(reason));
  if (facts.refused) reasons.add(facts.refused.reason);
  add('already_tried', facts.tried?.has(id));
  add('not_previous_buyer', facts.only_buyer_id !== undefined && facts.only_buyer_id !== id);
  add('key_press_unavailable', facts.can_whisper === false && faults.needs_key);
  const hearsTones =
    facts.can_play_tones !== false &&
    (facts.can_whisper !== false || !faults.at_sip || faults.no_number);
  add('tones_unavailable', faults.needs_tones && !hearsTones);
  add('bid_not_asked', faults.bidder);
  add('no_number', faults.no_number);
  add('vetoed', facts.vetoed?.has(id));
  if (!facts.reserved?.has(id)) {
    add('blocked_for_traffic_source', facts.source_buyers?.blocked.has(id));
    add('paused', faults.paused);
    add('closed', faults.closed);
    add('suppressed', faults.suppressed);
    add('filter_unmet', faults.filtered);
    if (candidate.used_up) reasons.add(toReason(candidate.used_up.cap));
    add('duplicate_caller', facts.pays_again_at?.has(id));
    const last = facts.last_calls?.get(id);
    const secondsAgo = last ? (NOW.getTime() - last.getTime()) / 1000 : Infinity;
    add('spacing', facts.spacing_seconds && secondsAgo < facts.spacing_seconds);
    const blocked = candidate.groups.map(({ paused, used_up }) => {
      if (paused) return 'group_paused';
      return used_up ? toReason(used_up.cap) : null;
    });
    if (!candidate.direct && blocked.every((reason) => reason !== null))
      reasons.add(REASONS.find((reason) => blocked.includes(reason))!);
  }
  return REASONS.find((reason) => reasons.has(reason));
}

const findOwnTier = ({ route_by_type, tier, current_conversion_revenue, epc }: Candidate): number =>
  ({ tier, revenue: 0 - (current_conversion_revenue ?? 0), epc: 0 - (epc ?? 0) })[route_by_type];

/** The group of the best open path: a low tier, then a high weight, then the offer itself. */
function findBestGroup(candidate: Candidate): CandidateGroup | null {
  const own = { tier: findOwnTier(candidate), weight: candidate.weight };
  const paths = [
    ...(candidate.direct ? [{ path: null, ...own }] : []),
    ...candidate.groups
      .filter(({ paused, used_up }) => !paused && !used_up)
      .map((path) => {
        const { tier, weight } = path.dial_buyers_type === 'simultaneously' ? path : own;
        return { path, tier, weight };
      }),
  ];
  return paths.toSorted((a, b) => a.tier - b.tier || b.weight - a.weight)[0]?.path ?? null;
}

const compare = (a: number, b: number) => {
  if (a === b) return 0;
  return a < b ? -1 : 1;
};

/** Everything that routing says about a call: the reasons by index, and the choices in order. */
function routePlainly(world: World, candidates: readonly Candidate[], facts: RouteFacts) {
  const draw = drawBy(facts.seed);
  const reasons = candidates.map((candidate, n) =>
    findReason(candidate, facts, world.buyers[n]!.faults),
  );
  const open = candidates.filter((_, n) => reasons[n] === undefined);
  const members = open.map((candidate) => ({ buyer: candidate, group: findBestGroup(candidate) }));
  const ringing = new Map(
    members.flatMap((member) =>
      member.group?.dial_buyers_type === 'simultaneously' ? [[member.group.id, member.group]] : [],
    ),
  );
  const byPreference = members
    .map((member) => ({ member, drawn: draw(member.buyer.id * 2, member.buyer.weight) }))
    .toSorted((a, b) => {
      const [first, second] = [a.member.buyer, b.member.buyer];
      const rank = ({ id }: Candidate) =>
        (id === facts.first_buyer_id ? 0 : 1) + (facts.reserved?.has(id) ? 0 : 1);
      return (
        compare(rank(first), rank(second)) ||
        compare(findOwnTier(first), findOwnTier(second)) ||
        compare(a.drawn, b.drawn) ||
        compare(first.id, second.id)
      );
    })
    .map(({ member }) => member);
  const choices = [
    ...members
      .filter(({ group: through }) => !ringing.has(through?.id ?? 0))
      .map((member) => ({
        ...{ members: [member], group: null, key: member.buyer.id * 2 },
        ...{ tier: findOwnTier(member.buyer), weight: member.buyer.weight },
      })),
    ...[...ringing.values()].map((through) => {
      const inGroup = byPreference.filter((member) => member.group?.id === through.id);
      for (const { buyer: postponed } of inGroup.slice(facts.max_legs ?? Infinity))
        reasons[candidates.indexOf(postponed)] = 'not_rung';
      return {
        members: inGroup
          .slice(0, facts.max_legs ?? Infinity)
          .toSorted((a, b) => a.buyer.id - b.buyer.id),
        ...{ group: through, key: through.id * 2 + 1, tier: through.tier, weight: through.weight },
      };
    }),
  ];
  const inOrder = choices
    .map((choice) => {
      const ofTier = choices.filter(({ tier }) => tier === choice.tier);
      const sum = ofTier.reduce((all, { weight }) => all + weight, 0);
      const share = sum === 0 ? 0 : choice.weight / sum;
      const drawn = draw(choice.key, choice.weight);
      const isFirst = choice.members.some(({ buyer: { id } }) => id === facts.first_buyer_id);
      return { ...choice, share, draw: drawn, isFirst };
    })
    .toSorted(
      (a, b) =>
        compare(Number(b.isFirst), Number(a.isFirst)) ||
        compare(a.tier, b.tier) ||
        compare(a.draw, b.draw) ||
        compare(a.key, b.key),
    )
    .map(({ isFirst: _, ...choice }) => choice);
  return { reasons, choices: inOrder };
}

/** The candidate without the effects of calls. */
const stripCallEffects = (candidate: Candidate): Candidate => ({
  ...candidate,
  epc: null,
  used_up: null,
  suppressed_by: [],
  groups: candidate.groups.map((candidateGroup) => ({ ...candidateGroup, used_up: null })),
});

/** As the cache has them: only what a call has changed is another object. */
function keepOrStrip(candidate: Candidate): Candidate {
  const plain = stripCallEffects(candidate);
  return isDeepStrictEqual(plain, candidate) ? candidate : plain;
}

const runWorlds = (check: (candidates: Candidate[], facts: RouteFacts, world: World) => void) =>
  fc.assert(
    fc.property(worlds, (world) => {
      const candidates = buildCandidates(world);
      check(candidates, buildFacts(world, candidates), world);
    }),
    { numRuns: repetitions(400, 4_000) * Number(process.env.FUZZ_TIMES ?? 1) },
  );

test('a call gets the choices of a plain model, in its order, and its reasons', () => {
  runWorlds((candidates, facts, world) => {
    const expected = routePlainly(world, candidates, facts);
    const evaluation = evaluate(candidates, facts);
    expect(evaluation.faults.map((fault) => fault?.reason)).toEqual(expected.reasons);
    expect(orderChoices(evaluation)).toEqual(expected.choices);
    const [first] = expected.choices;
    const plain = listPlainCandidates(candidates.map(keepOrStrip), facts.now);
    const withPlain = evaluate(candidates, facts, plain);
    expect({ ...withPlain, plain: undefined }).toEqual(evaluation);
    for (const picked of [pickFirst(evaluation), pickFirst(withPlain)]) {
      expect(picked?.members).toEqual(first?.members);
      expect(picked?.group).toEqual(first?.group);
    }
  });
});

test('a decision shows every candidate once, and unpacks to the same', () => {
  runWorlds((candidates, facts, world) => {
    const expected = routePlainly(world, candidates, facts);
    const evaluation = evaluate(candidates, facts);
    const ids = pickFirst(evaluation)?.members.map((member) => member.buyer.id) ?? [];
    const verdict = { ...buildVerdict(ids), seed: world.seed };
    const decision = buildDecision(verdict, evaluation);
    const ranked = expected.choices.flatMap(({ members, tier, weight, share, draw }, n) =>
      members.map(({ buyer: { id, name, route_by_type }, group: through }) => ({
        ...{ buyer_id: id, name, reason: null, message: null, details: null, rank: n + 1 },
        ...{ tier, weight, share, draw, route_by_type, buyer_group_id: through?.id ?? null },
        chosen: n === 0,
      })),
    );
    const passedOver = candidates
      .flatMap((candidate, n) => {
        const reason = expected.reasons[n];
        if (!reason) return [];
        const { id, name, weight, route_by_type } = candidate;
        return {
          ...{ buyer_id: id, name, reason, rank: null, tier: findOwnTier(candidate), weight },
          ...{ share: null, draw: null, route_by_type, buyer_group_id: null, chosen: false },
        };
      })
      .toSorted((a, b) => compare(a.tier, b.tier) || compare(a.buyer_id, b.buyer_id));
    expect(decision.candidates.slice(0, ranked.length)).toEqual(ranked);
    const rest = decision.candidates.slice(ranked.length);
    expect(rest).toMatchObject(passedOver);
    for (const { message } of rest) expect(message).toEqual(expect.any(String));
    const basis = buildBasis(candidates.map(stripCallEffects));
    const plain = listPlainCandidates(candidates.map(keepOrStrip), facts.now);
    const text = JSON.stringify(packDecision(verdict, evaluate(candidates, facts, plain), basis));
    expect(text).toBe(JSON.stringify(packDecision(verdict, evaluation, basis)));
    const packed = JSON.parse(text) as ReturnType<typeof packDecision>;
    const names = new Map(candidates.map(({ id: n, name }) => [n, name]));
    expect(unpackDecision(packed, JSON.parse(basis.text) as StoredBasis, names)).toEqual(decision);
  });
});
