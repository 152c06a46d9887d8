import type { CandidateGroup } from '../../../src/routing/engine/candidate';
import type {
  Configuration,
  Figures,
  ReplayedCall,
  SimulatedBuyer,
} from '../../../src/routing/simulation/model';
import { replay } from '../../../src/routing/simulation/replay';
import { changed, type BuyerChange } from '../../../src/routing/simulation/change';
import { windowEnd, type CapsOwner } from '../../../src/routing/simulation/caps';
import { expectationsOf, type Assumptions } from '../../../src/routing/simulation/outcome';
import { openMinutes } from '../../../src/time/opening-hours';
import { ownTokens } from '../../../src/tokens/substitute';
import { buyer, group, NEW_YORK } from '../../support/candidates';

/** Monday 08:00 in New York. */
const START = new Date('2026-06-01T12:00:00Z');

const caps = (changes: Partial<CapsOwner> = {}): CapsOwner => ({
  zone: NEW_YORK,
  limits: {},
  hours: [],
  ...changes,
});
const paying = (revenue: number) => [
  {
    time_frame: 0,
    open: [],
    conversion_type: 'duration' as const,
    duration: 60,
    revenue,
    duplicate_timeframe: 0,
    token_values: [],
  },
];
const one = (
  id: number,
  changes: Partial<SimulatedBuyer['candidate']> = {},
  more: Partial<SimulatedBuyer> = {},
): SimulatedBuyer => ({
  candidate: buyer({ id, timeout_seconds: 30, ...changes }),
  caps: caps(),
  conversions: paying(10),
  ...more,
});
const call = (id: number, at: Date, changes: Partial<ReplayedCall> = {}): ReplayedCall => ({
  id,
  at,
  caller_number: null,
  traffic_source_id: null,
  facts: ({ now, seed, tried, pays_again_at }) => ({
    now,
    seed,
    tried,
    pays_again_at,
    tokens: ownTokens({}),
  }),
  suppressed: new Map(),
  previous_buyer_id: null,
  paid_at: new Map(),
  seeds: [],
  attempts: [],
  talked: 90,
  gave_up_after: null,
  ...changes,
});
const every = (seconds: number, count: number, start = START) =>
  Array.from({ length: count }, (_, n) =>
    call(n + 1, new Date(start.getTime() + n * seconds * 1000)),
  );

interface Asked {
  calls: ReplayedCall[];
  groups?: Configuration['groups'];
  payouts?: Configuration['payouts'];
  seed?: string;
  given?: Assumptions;
  changes?: BuyerChange[];
  start?: Date;
}

function run(
  buyers: SimulatedBuyer[],
  {
    calls,
    groups = [],
    payouts = [],
    seed = 'seed',
    given = { answer_rate: 1 },
    changes = [],
    start = START,
  }: Asked,
) {
  const expected = expectationsOf([], {
    buyer_ids: buyers.map(({ candidate }) => candidate.id),
    talked: [],
    given,
  });
  const work = replay(changed({ buyers, groups, payouts }, { buyers: changes, groups: [] }), {
    calls,
    seed,
    start,
    expected,
  });
  for (;;) {
    const { done, value } = work.next();
    if (done) return (id: number): Figures => value.get(id)!;
  }
}

test('a doubled weight takes its share: chi-square of 10,000 calls is below what chance exceeds once in a thousand times', () => {
  const buyers = [one(1), one(2), one(3)];
  const calls = every(1, 10_000);
  for (const [changes, weights] of [
    [[], [1, 1, 1]],
    [[{ id: 2, weight: 2, limits: {} }], [1, 2, 1]],
  ] as const) {
    const figures = run(buyers, { calls, changes: [...changes] });
    const sum = weights.reduce((all, weight) => all + weight, 0);
    const chi_square = weights.reduce(
      (all, weight, n) =>
        all + (figures(n + 1).connects - (10_000 * weight) / sum) ** 2 / ((10_000 * weight) / sum),
      0,
    );
    // Two degrees of freedom.
    expect(chi_square).toBeLessThan(13.82);
  }
});

test('a paused buyer’s calls go to the next tier, and what it would have had is its own no more', () => {
  const buyers = [one(1), one(2, { tier: 2 }, { conversions: paying(7) })];
  const before = run(buyers, { calls: every(1, 50) });
  const after = run(buyers, {
    calls: every(1, 50),
    changes: [{ id: 1, paused: true, limits: {} }],
  });
  expect([before(1).revenue, before(2).attempts]).toEqual([500, 0]);
  expect([after(1), after(2)]).toMatchObject([
    { calls: 0, attempts: 0, skip_reasons: { paused: 50 } },
    { calls: 50, connects: 50, conversions: 50, revenue: 350, skip_reasons: {} },
  ]);
});

test.each(['attempt', 'connection', 'buyer_conversion', 'revenue'] as const)(
  'a cap of 5 on %s lets exactly 5 calls through, all at once or one after the other',
  (metric) => {
    const limit = metric === 'revenue' ? 50 : 5;
    for (const seconds of [0, 1, 200]) {
      const figures = run([one(1), one(2, { tier: 2 })], {
        calls: every(seconds, 60),
        changes: [{ id: 1, limits: { [`${metric}_daily_limit`]: limit } }],
      });
      expect([figures(1).attempts, figures(1).skip_reasons, figures(2).attempts]).toEqual([
        5,
        { cap_reached: 55 },
        55,
      ]);
    }
  },
);

test('concurrency is taken up for as long as a call rings and lasts', () => {
  // A call every 20 seconds takes 10 + 90: five at a time.
  const limited = (concurrency_cap_limit: number) =>
    run([one(1, {}, { caps: caps({ limits: { concurrency_cap_limit } }) })], {
      calls: every(20, 100),
    })(1);
  expect(limited(5)).toMatchObject({ attempts: 100, skip_reasons: {} });
  const few = limited(4);
  expect(few.attempts).toBe(80);
  expect(few.skip_reasons).toEqual({ concurrency_full: 20 });
});

test('what a call may come to is held while it goes on and let go when it does not come', () => {
  const calls = [
    call(1, START, { talked: 10 }),
    call(2, new Date(START.getTime() + 5_000)),
    call(3, new Date(START.getTime() + 60_000)),
  ];
  const figures = run([one(1, {}, { caps: caps({ limits: { revenue_total_limit: 10 } }) })], {
    calls,
  })(1);
  // The first lasts too short to be paid: the second comes while it might still be, the third
  // afterwards.
  expect(figures).toMatchObject({
    attempts: 2,
    conversions: 1,
    revenue: 10,
    skip_reasons: { cap_reached: 1 },
  });
});

describe('hours and windows are those of the buyer’s zone, over a change of the clock too', () => {
  const nights: [string, string, string, number][] = [
    ['the spring night of New York', NEW_YORK, '2026-03-07T05:00:00Z', 23],
    ['the autumn night of New York', NEW_YORK, '2026-10-31T04:00:00Z', 25],
    ['clocks that change at midnight in Santiago', 'America/Santiago', '2026-09-05T04:00:00Z', 23],
    ['clocks that change at midnight in Beirut', 'Asia/Beirut', '2026-03-27T22:00:00Z', 23],
  ];
  test.each(nights)(
    '%s: a daily cap begins anew at each local midnight',
    (_, zone, begins, hours) => {
      const start = new Date(begins);
      const buyers = [
        one(1, { zone }, { caps: caps({ zone, limits: { attempt_daily_limit: 5 } }) }),
      ];
      const of_hours = (count: number) =>
        run(buyers, { calls: every(1800, count * 2, start), start })(1).attempts;
      // The first day is an ordinary one or begins at the change; both together have 24 hours and
      // those of the other.
      const [first, second] = [
        windowEnd('daily', zone, start),
        windowEnd('daily', zone, windowEnd('daily', zone, start)),
      ];
      const lengths = [first.getTime() - start.getTime(), second.getTime() - first.getTime()].map(
        (ms) => ms / 3_600_000,
      );
      expect(lengths.toSorted((a, b) => a - b)).toEqual([24, hours].toSorted((a, b) => a - b));
      expect([
        of_hours(lengths[0]!),
        of_hours(lengths[0]! + 1),
        of_hours(lengths[0]! + lengths[1]!),
        of_hours(lengths[0]! + lengths[1]! + 1),
      ]).toEqual([5, 7, 10, 12]);
    },
  );

  test('an hour that comes twice is two; business hours open at the local time', () => {
    const start = new Date('2026-11-01T04:00:00Z');
    const hourly = [
      {
        open: openMinutes([{ day: 0, times: ['01:00..01:59'] }]),
        limits: { attempt_hourly_limit: 1 },
      },
    ];
    const figures = run([one(1)], {
      calls: every(600, 24, start),
      start,
      changes: [{ id: 1, hours: hourly, limits: {} }],
    })(1);
    expect(figures).toMatchObject({ attempts: 2, skip_reasons: { closed: 12, cap_reached: 10 } });
  });
});

test('who does not answer rings as long as it may, and the call goes on to the next; who hangs up meanwhile is gone', () => {
  const buyers = [one(1), one(2, { tier: 2 })];
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
  // Who answered after 25 seconds does not where it rings for 20 only.
  const answered = [
    call(1, START, { attempts: [{ buyer_id: 1, status: 'connected', rang: 25, revenue: 10 }] }),
  ];
  expect(run(buyers, { calls: answered })(1).connects).toBe(1);
  expect(
    run(buyers, { calls: answered, changes: [{ id: 1, timeout_seconds: 20, limits: {} }] })(2)
      .connects,
  ).toBe(1);
});

test('a group that rings all at once counts one call, and the first to answer has it', () => {
  const at_once: CandidateGroup = group({ id: 9, dial_buyers_type: 'simultaneously' });
  const members = [1, 2, 3].map((id) => one(id, { direct: false, groups: [at_once] }));
  const attempts = [
    { buyer_id: 1, status: 'released' as const, rang: 8 },
    { buyer_id: 2, status: 'connected' as const, rang: 8, revenue: 12 },
    { buyer_id: 3, status: 'unanswered' as const, rang: 3 },
  ];
  const groups = [
    {
      group: at_once,
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

test('pays once for a caller within the time frame, the source by its terms, and sends who calls back where the offer says', () => {
  const again = paying(10).map((conversion) => ({ ...conversion, duplicate_timeframe: 3600 }));
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
  expect(run([one(1, {}, { conversions: again })], { calls, payouts })(1)).toMatchObject({
    connects: 3,
    conversions: 2,
    revenue: 20,
    payout: 10,
  });
  const back = calls.map((each) => ({
    ...each,
    facts: (looking: Parameters<ReplayedCall['facts']>[0]) => ({
      ...each.facts(looking),
      only_buyer_id: looking.previous_buyer_id ?? undefined,
    }),
  }));
  const figures = run([one(1), one(2)], { calls: back });
  expect([figures(1).connects, figures(2).connects].toSorted()).toEqual([0, 3]);
});

test('the same seed gives the same answer, another one another', () => {
  const buyers = [one(1), one(2, { weight: 2 }), one(3, { tier: 2 })];
  const asked = { calls: every(7, 500), given: { answer_rate: 0.6 } };
  const all = (seed: string) => [1, 2, 3].map(run(buyers, { ...asked, seed }));
  expect(all('x')).toEqual(all('x'));
  expect(all('y')).not.toEqual(all('x'));
});

test('rates are the buyer’s own where there is enough to know, else those of all, else what is assumed or given', () => {
  const observed = [
    { buyer_id: 1, attempts: 40, connects: 20, conversions: 5, rang: 100 },
    { buyer_id: 2, attempts: 10, connects: 10, conversions: 10, rang: 50 },
  ];
  const asked = { buyer_ids: [1, 2], talked: [30, 60] };
  const { rates, talked, answered_after } = expectationsOf(observed, asked);
  expect([rates.get(1), rates.get(2)]).toEqual([
    { answer: { rate: 0.5, from: 'buyer' }, conversion: { rate: 0.25, from: 'buyer' } },
    { answer: { rate: 0.6, from: 'offer' }, conversion: { rate: 0.5, from: 'offer' } },
  ]);
  expect([talked, answered_after]).toEqual([[30, 60], 5]);
  expect(expectationsOf([], asked).rates.get(1)!.answer).toEqual({ rate: 1, from: 'assumed' });
  expect(
    expectationsOf(observed, { ...asked, given: { answer_rate: 0.1 } }).rates.get(1)!.answer,
  ).toEqual({ rate: 0.1, from: 'given' });
});
