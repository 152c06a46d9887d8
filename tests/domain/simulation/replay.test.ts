import type { CandidateGroup } from '../../../src/domain/routing/engine/candidate';
import type { ReplayedCall } from '../../../src/domain/simulation/model';
import { ownTokens } from '../../../src/platform/tokens/substitute';
import { group, NEW_YORK } from '../../support/candidates';
import { repetitions } from '../../support/repetitions';
import { call, repeatCalls, buildBuyer, buildConversions, run, START } from '../../support/replay';

const CALLS = repetitions(2_000, 10_000);

test(`a doubled weight takes its share of ${CALLS} calls`, () => {
  const buyers = [buildBuyer(1), buildBuyer(2), buildBuyer(3)];
  const calls = repeatCalls(1, CALLS);
  for (const [changes, weights] of [
    [[], [1, 1, 1]],
    [[{ id: 2, weight: 2, limits: {} }], [1, 2, 1]],
  ] as const) {
    const figures = run(buyers, { calls, changes: [...changes] });
    const sum = weights.reduce((all, weight) => all + weight, 0);
    const chiSquare = weights.reduce((all, weight, n) => {
      const share = (CALLS * weight) / sum;
      return all + (figures(n + 1).connects - share) ** 2 / share;
    }, 0);
    // Two degrees of freedom.
    expect(chiSquare).toBeLessThan(13.82);
  }
});

test('a paused buyer’s calls go to the next tier, and the buyer gets nothing', () => {
  const buyers = [buildBuyer(1), buildBuyer(2, { tier: 2 }, { conversions: buildConversions(7) })];
  const before = run(buyers, { calls: repeatCalls(1, 50) });
  const after = run(buyers, {
    calls: repeatCalls(1, 50),
    changes: [{ id: 1, paused: true, limits: {} }],
  });
  expect([before(1).revenue, before(2).attempts]).toEqual([500, 0]);
  expect([after(1), after(2)]).toMatchObject([
    { calls: 0, attempts: 0, skip_reasons: { paused: 50 } },
    { calls: 50, connects: 50, conversions: 50, revenue: 350, skip_reasons: {} },
  ]);
});

test('a buyer that does not answer rings to its timeout; a caller may give up before', () => {
  const buyers = [buildBuyer(1), buildBuyer(2, { tier: 2 })];
  const silent = { status: 'unanswered' as const, rang: 25 };
  const attempts = [{ buyer_id: 1, ...silent }];
  const figures = run(buyers, {
    calls: [
      call(1, START, { attempts }),
      call(2, START, { attempts, gave_up_after: 20, talked: null }),
    ],
  });
  expect([figures(1), figures(2)]).toMatchObject([
    { calls: 1, attempts: 2, connects: 0, skip_reasons: { already_tried: 1 } },
    { calls: 1, attempts: 1, connects: 1, revenue: 10 },
  ]);
  // A buyer that answered after 25 seconds does not if it rings for 20 only.
  const answered = [
    call(1, START, { attempts: [{ buyer_id: 1, status: 'connected', rang: 25, revenue: 10 }] }),
  ];
  expect(run(buyers, { calls: answered })(1).connects).toBe(1);
  expect(
    run(buyers, { calls: answered, changes: [{ id: 1, timeout_seconds: 20, limits: {} }] })(2)
      .connects,
  ).toBe(1);
});

test('a group that rings all at once counts one call, and the first to answer gets it', () => {
  const atOnce: CandidateGroup = group({ id: 9, dial_buyers_type: 'simultaneously' });
  const members = [1, 2, 3].map((id) => buildBuyer(id, { direct: false, groups: [atOnce] }));
  const attempts = [
    { buyer_id: 1, status: 'released' as const, rang: 8 },
    { buyer_id: 2, status: 'connected' as const, rang: 8, revenue: 12 },
    { buyer_id: 3, status: 'unanswered' as const, rang: 3 },
  ];
  const groups = [
    {
      group: atOnce,
      caps: { zone: NEW_YORK, limits: { attempt_total_limit: 2, concurrency_cap_limit: 1 } },
    },
  ];
  const calls = [0, 120, 240].map((seconds, n) =>
    call(n + 1, new Date(START.getTime() + seconds * 1000), { attempts }),
  );
  const figures = run(members, { calls, groups });
  expect(
    [1, 2, 3].map((id) => [figures(id).attempts, figures(id).connects, figures(id).revenue]),
  ).toEqual([
    [2, 0, 0],
    [2, 2, 24],
    [2, 0, 0],
  ]);
  expect(figures(1).skip_reasons).toEqual({ cap_reached: 1 });
});

test('buyers pay once per time frame, sources get their terms, callers go back', () => {
  const limitedConversions = buildConversions(10).map((conversion) => ({
    ...conversion,
    duplicate_timeframe: 3600,
  }));
  const payouts = [{ payout_type: 'percentage' as const, amount: 50, duplicate_timeframe: 60 }];
  const caller = { caller_number: 13105550188, traffic_source_id: 4 };
  const takesAll = {
    ...caller,
    facts: ({ pays_again_at: _, ...looking }: Parameters<ReplayedCall['facts']>[0]) => ({
      ...looking,
      tokens: ownTokens({}),
    }),
  };
  const calls = [0, 600, 4200].map((seconds, n) =>
    call(n + 1, new Date(START.getTime() + seconds * 1000), takesAll),
  );
  expect(
    run([buildBuyer(1, {}, { conversions: limitedConversions })], { calls, payouts })(1),
  ).toMatchObject({
    connects: 3,
    conversions: 2,
    revenue: 20,
    payout: 10,
  });
  const back = calls.map((replayedCall) => ({
    ...replayedCall,
    facts: (looking: Parameters<ReplayedCall['facts']>[0]) => ({
      ...replayedCall.facts(looking),
      only_buyer_id: looking.previous_buyer_id ?? undefined,
    }),
  }));
  const figures = run([buildBuyer(1), buildBuyer(2)], { calls: back });
  expect([figures(1).connects, figures(2).connects].toSorted()).toEqual([0, 3]);
});

test('the same seed gives the same result, another seed another one', () => {
  const buyers = [buildBuyer(1), buildBuyer(2, { weight: 2 }), buildBuyer(3, { tier: 2 })];
  const request = { calls: repeatCalls(7, 500), assumptions: { answer_rate: 0.6 } };
  const all = (seed: string) => [1, 2, 3].map(run(buyers, { ...request, seed }));
  expect(all('x')).toEqual(all('x'));
  expect(all('y')).not.toEqual(all('x'));
});
