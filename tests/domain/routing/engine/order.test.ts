import fc from 'fast-check';
import type { Candidate, CandidateGroup } from '../../../../src/domain/routing/engine/candidate';
import { evaluateEligibility } from '../../../../src/domain/routing/engine/eligibility';
import { evaluate, type RouteFacts } from '../../../../src/domain/routing/engine/evaluate';
import { pickFirst } from '../../../../src/domain/routing/engine/order';
import { ownTokens } from '../../../../src/platform/tokens/substitute';
import { buyer, group, route } from '../../../support/candidates';
import { repetitions } from '../../../support/repetitions';

/** Monday 08:30 in New York. */
const NOW = new Date('2026-06-01T12:30:00Z');
const tokens = ownTokens({ state: 'TX', age: '40' });
const facts = (more: Partial<RouteFacts> = {}): RouteFacts => ({
  now: NOW,
  tokens,
  seed: 'seed',
  ...more,
});
const through = (...groups: CandidateGroup[]): Partial<Candidate> => ({ direct: false, groups });
/** Ids of buyers that can take the call, by tier and weight instead of by the draw. */
const order = (...candidates: Candidate[]) =>
  route(candidates, facts())
    .choices.flatMap(({ members, tier, weight }) =>
      members.map(({ buyer: { id } }) => ({ id, tier, weight })),
    )
    .toSorted((a, b) => a.tier - b.tier || b.weight - a.weight || a.id - b.id)
    .map(({ id }) => id);
const checkEligibility = (candidate: Candidate) => evaluateEligibility(candidate, facts());
/** Ids of the buyers that are tried, grouped by round. */
const listTried = (candidates: Candidate[], more: Partial<RouteFacts> = {}) =>
  route(candidates, facts(more)).choices.map(({ members }) =>
    members.map(({ buyer: { id } }) => id),
  );

describe('a route', () => {
  const few = fc.integer({ min: 0, max: 3 });
  const groups = fc.array(
    fc.record({
      id: fc.integer({ min: 1, max: 4 }),
      tier: few,
      weight: few,
      paused: fc.boolean(),
      at_once: fc.boolean(),
    }),
    {
      maxLength: 2,
    },
  );
  const some = fc.record({
    id: fc.integer({ min: 1, max: 40 }),
    tier: few,
    weight: few,
    paused: fc.boolean(),
    direct: fc.boolean(),
    groups,
    number: fc.option(fc.constant('+12125550100')),
  });
  const worlds = fc.uniqueArray(some, { selector: ({ id }) => id, maxLength: 25 });
  type Drawn = typeof worlds extends fc.Arbitrary<infer T> ? T : never;
  const buildCandidates = (drawn: Drawn): Candidate[] =>
    drawn.map(({ groups: of, direct, ...changes }) =>
      buyer({
        ...changes,
        direct: direct || of.length === 0,
        groups: of.map(({ at_once, ...fields }) =>
          group({ ...fields, dial_buyers_type: at_once ? 'simultaneously' : 'sequentially' }),
        ),
      }),
    );

  test('has every candidate once; tiers ascend; only buyers without a reason are dialed', () => {
    fc.assert(
      fc.property(
        worlds,
        fc.string(),
        fc.uniqueArray(fc.integer({ min: 1, max: 40 })),
        (drawn, seed, before) => {
          const candidates = buildCandidates(drawn);
          const asking = facts({ seed, tried: new Set(before) });
          const { choices, considered } = route(candidates, asking);
          expect(considered.map(({ buyer_id }) => buyer_id).toSorted((a, b) => a - b)).toEqual(
            candidates.map(({ id }) => id).toSorted((a, b) => a - b),
          );
          for (const { reason, rank, message } of considered)
            expect([rank !== null, message === null]).toEqual([reason === null, reason === null]);
          const dialed = choices.flatMap(({ members }) => members.map(({ buyer: { id } }) => id));
          expect(new Set(dialed).size).toBe(dialed.length);
          expect(new Set(dialed)).toEqual(
            new Set(
              candidates
                .filter((candidate) => evaluateEligibility(candidate, asking).available)
                .map(({ id }) => id),
            ),
          );
          const tiers = choices.map(({ tier }) => tier);
          expect(tiers).toEqual(tiers.toSorted((a, b) => a - b));
          for (const tier of new Set(tiers)) {
            const ofTier = choices.filter((choice) => choice.tier === tier);
            const sum = ofTier.reduce((all, { share }) => all + share, 0);
            if (ofTier.every(({ weight }) => weight === 0)) expect(sum).toBe(0);
            else expect(Math.abs(sum - 1)).toBeLessThan(1e-9);
            const weightless = ofTier.map(({ weight }) => weight === 0);
            expect(weightless).toEqual(weightless.toSorted());
          }
        },
      ),
      { numRuns: repetitions(60, 300) },
    );
  });

  test('is the same for the same seed, however the candidates come', () => {
    fc.assert(
      fc.property(worlds, fc.string(), (drawn, seed) => {
        const candidates = buildCandidates(drawn);
        const ids = (all: Candidate[]) =>
          listTried(all, { seed }).map((members) => members.toSorted((a, b) => a - b));
        expect(ids(candidates.toReversed())).toEqual(ids(candidates));
      }),
    );
  });

  test('rings a group that dials all at once as one, by its own tier and weight', () => {
    const atOnce = group({ dial_buyers_type: 'simultaneously', tier: 0 });
    expect(
      listTried([
        buyer({ id: 1, ...through(atOnce) }),
        buyer({ id: 2, tier: -1 }),
        buyer({ id: 3, tier: 9, ...through(atOnce) }),
      ]),
    ).toEqual([[2], [1, 3]]);
  });

  test('sends callers back to their previous buyer, first or only', () => {
    const candidates = [buyer({ id: 1 }), buyer({ id: 2, tier: 5 }), buyer({ id: 3, tier: 2 })];
    expect(listTried(candidates, { first_buyer_id: 2 })).toEqual([[2], [1], [3]]);
    expect(listTried(candidates, { only_buyer_id: 3 })).toEqual([[3]]);
    expect(
      route(candidates, facts({ only_buyer_id: 3 })).considered.filter(
        ({ reason }) => reason === 'not_previous_buyer',
      ),
    ).toHaveLength(2);
  });

  test('passes over a buyer that has paid for the caller, and one just dialed', () => {
    const inAnHour = new Date(NOW.getTime() + 3_600_000);
    const justNow = new Date(NOW.getTime() - 5_000);
    const candidates = [buyer({ id: 1 }), buyer({ id: 2 }), buyer({ id: 3 })];
    const { considered } = route(
      candidates,
      facts({
        pays_again_at: new Map([[1, inAnHour]]),
        spacing_seconds: 60,
        last_calls: new Map([[2, justNow]]),
      }),
    );
    expect(considered.map(({ buyer_id, reason, message }) => [buyer_id, reason, message])).toEqual([
      [3, null, null],
      [
        1,
        'duplicate_caller',
        'the buyer has paid for this caller, and pays again from 2026-06-01 09:30 America/New_York',
      ],
      [
        2,
        'spacing',
        'the offer gives a buyer one call in 60 seconds: ' +
          'the next at 2026-06-01 08:30 America/New_York',
      ],
    ]);
  });

  test('gives every buyer the reason that keeps the call from all', () => {
    const refused = { reason: 'blacklisted' as const, message: 'no' };
    expect(
      route([buyer({ id: 1 }), buyer({ id: 2, paused: true })], facts({ refused })).considered.map(
        ({ reason }) => reason,
      ),
    ).toEqual(['blacklisted', 'blacklisted']);
  });
});

describe('the order in which buyers are tried when nothing is drawn', () => {
  test('tiers ascend, in a tier weights descend, and then ids ascend', () => {
    const [light, heavy] = [buyer({ id: 2 }), buyer({ id: 3, weight: 2 })];
    const otherBuyers = [
      buyer({ id: 4, tier: 2, weight: 9 }),
      buyer({ id: 1, tier: -1 }),
      buyer({ id: 9, tier: -2, paused: true }),
    ];
    expect(order(buyer({ id: 5 }), ...otherBuyers, heavy, light)).toEqual([1, 3, 2, 5, 4]);
  });

  test('by revenue or earnings per call the tier is minus the amount; 0 without one', () => {
    const pays = (id: number, currentConversionRevenue: number | null) =>
      buyer({
        id,
        tier: -99,
        route_by_type: 'revenue',
        current_conversion_revenue: currentConversionRevenue,
      });
    expect(order(pays(1, null), pays(2, 20), pays(3, 35.5), buyer({ id: 4, tier: -21 }))).toEqual([
      3, 4, 2, 1,
    ]);
    const earns = (id: number, epc: number | null) =>
      buyer({ id, tier: -99, route_by_type: 'epc', epc });
    expect(order(earns(1, 4), earns(2, null), earns(3, 9), buyer({ id: 4 }))).toEqual([3, 1, 2, 4]);
  });

  test('a group that rings all at once gives its members its own place', () => {
    const atOnce = group({ dial_buyers_type: 'simultaneously', tier: 5, weight: 9 });
    const paying = buyer({
      id: 3,
      route_by_type: 'revenue',
      current_conversion_revenue: 50,
      ...through(atOnce),
    });
    const inTurn = buyer({ id: 4, tier: 6, ...through(group({ id: 4, tier: 0 })) });
    expect(
      order(
        buyer({ id: 1, ...through(atOnce) }),
        buyer({ id: 2, tier: 5, weight: 8 }),
        paying,
        inTurn,
      ),
    ).toEqual([1, 3, 2, 4]);
  });

  test('of several ways the best that is open counts', () => {
    const inGroup = (changes: Partial<CandidateGroup>) =>
      buyer({
        id: 2,
        groups: [group({ dial_buyers_type: 'simultaneously', tier: 0, ...changes })],
      });
    expect(order(buyer({ id: 1 }), inGroup({}))).toEqual([2, 1]);
    expect(order(buyer({ id: 1 }), inGroup({ paused: true }))).toEqual([1, 2]);
    expect(order(buyer({ id: 1 }), inGroup({ tier: 2 }))).toEqual([1, 2]);
  });

  test('it does not depend on the input order, and has exactly the available buyers', () => {
    const few = fc.integer({ min: 0, max: 2 });
    const some = fc.record({
      id: fc.integer({ min: 1, max: 30 }),
      tier: few,
      weight: few,
      paused: fc.boolean(),
      direct: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(some, { selector: ({ id }) => id }),
        fc.integer({ min: 0 }),
        (drawn, turned) => {
          const all = drawn.map((changes) =>
            buyer({ ...changes, groups: [group({ dial_buyers_type: 'simultaneously' })] }),
          );
          const mixed = all
            .toReversed()
            .toSorted((a, b) => ((a.id * turned) % 31) - ((b.id * turned) % 31));
          expect(order(...mixed)).toEqual(order(...all));
          expect(new Set(order(...all))).toEqual(
            new Set(
              all.filter((candidate) => checkEligibility(candidate).available).map(({ id }) => id),
            ),
          );
        },
      ),
    );
  });
});

const CALLS = repetitions(10_000, 100_000);

test(`choices of the lowest tier share ${CALLS} calls by weight, a ringing group as one`, () => {
  const atOnce = group({ id: 3, dial_buyers_type: 'simultaneously', tier: 1, weight: 4 });
  const member = { direct: false, groups: [atOnce], weight: 100 };
  const candidates = [
    buyer({ id: 1, weight: 1 }),
    buyer({ id: 2, weight: 2 }),
    buyer({ id: 3, weight: 5 }),
    buyer({ id: 4, ...member }),
    buyer({ id: 5, ...member }),
  ];
  const counts = new Map<number, number>();
  for (let n = 0; n < CALLS; n++) {
    const first = pickFirst(evaluate(candidates, facts({ seed: `call ${n}` })));
    const id = first!.members[0]!.buyer.id;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  expect([...counts.keys()].toSorted()).toEqual([1, 2, 3, 4]);
  const expected = [1, 2, 5, 4].map((weight) => (CALLS * weight) / 12);
  const chiSquare = expected.reduce(
    (sum, share, n) => sum + (counts.get(n + 1)! - share) ** 2 / share,
    0,
  );
  // Three degrees of freedom.
  expect(chiSquare).toBeLessThan(16.27);
});
