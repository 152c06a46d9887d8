import { windowEnd } from '../../../src/domain/caps/engine/cap-row';
import type { CapsOwner } from '../../../src/domain/simulation/caps';
import { openMinutes } from '../../../src/platform/time/opening-hours';
import { NEW_YORK } from '../../support/candidates';
import { call, caps, repeatCalls, buildBuyer, run, START } from '../../support/replay';

test.each(['attempt', 'connection', 'buyer_conversion', 'revenue'] as const)(
  'a cap of 5 on %s lets exactly 5 calls through, all at once or one after the other',
  (metric) => {
    const limit = metric === 'revenue' ? 50 : 5;
    for (const seconds of [0, 1, 200]) {
      const figures = run([buildBuyer(1), buildBuyer(2, { tier: 2 })], {
        calls: repeatCalls(seconds, 60),
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

describe('caps of traffic sources', () => {
  const SOURCE = 7;
  const payouts = [{ payout_type: 'fixed' as const, amount: 4 }];
  const runWithLimits = (limits: CapsOwner['limits'], seconds: number, talked = 90) =>
    run([buildBuyer(1), buildBuyer(2, { tier: 2 })], {
      calls: repeatCalls(seconds, 60).map((replayedCall, n) => ({
        ...replayedCall,
        talked,
        traffic_source_id: n % 2 ? null : SOURCE,
      })),
      payouts,
      sources: new Map([[SOURCE, { zone: NEW_YORK, limits }]]),
    })(1);

  test.each([
    ['attempt_daily_limit', 5, 'traffic_source_cap_reached'],
    ['connection_hourly_limit', 5, 'traffic_source_cap_reached'],
    ['buyer_conversion_total_limit', 5, 'traffic_source_cap_reached'],
    ['revenue_monthly_limit', 50, 'traffic_source_cap_reached'],
    ['concurrency_cap_limit', 5, 'traffic_source_concurrency_full'],
  ])('%s of %d lets 5 of its calls through at once, and all of others', (name, limit, reason) => {
    expect(runWithLimits({ [name]: limit }, 0)).toMatchObject({
      attempts: 35,
      skip_reasons: { [reason]: 25 },
    });
  });

  test('what its calls have not used is given back when they end', () => {
    // Calls of ten seconds are not paid for; each ends before the next of the source begins.
    const limits = { buyer_conversion_total_limit: 1, concurrency_cap_limit: 1 };
    expect(runWithLimits(limits, 60, 10)).toMatchObject({ attempts: 60, skip_reasons: {} });
    expect(runWithLimits(limits, 60)).toMatchObject({
      attempts: 31,
      skip_reasons: { traffic_source_cap_reached: 29 },
    });
  });

  test('what the source earns comes off what is earned with it', () => {
    // Each call earns $10 - $4; before it is paid, it may earn $10.
    expect(runWithLimits({ earned_revenue_daily_limit: 28 }, 200)).toMatchObject({
      attempts: 34,
      skip_reasons: { traffic_source_cap_reached: 26 },
    });
  });
});

test('a call takes a slot of concurrency while it rings and lasts', () => {
  // A call every 20 seconds takes 10 + 90: five at a time.
  const limited = (concurrencyCapLimit: number) =>
    run(
      [
        buildBuyer(
          1,
          {},
          { caps: caps({ limits: { concurrency_cap_limit: concurrencyCapLimit } }) },
        ),
      ],
      {
        calls: repeatCalls(20, 100),
      },
    )(1);
  expect(limited(5)).toMatchObject({ attempts: 100, skip_reasons: {} });
  const few = limited(4);
  expect(few.attempts).toBe(80);
  expect(few.skip_reasons).toEqual({ concurrency_full: 20 });
});

test('what a call may use is reserved until it ends, and released when it is not used', () => {
  const calls = [
    call(1, START, { talked: 10 }),
    call(2, new Date(START.getTime() + 5_000)),
    call(3, new Date(START.getTime() + 60_000)),
  ];
  const figures = run(
    [buildBuyer(1, {}, { caps: caps({ limits: { revenue_total_limit: 10 } }) })],
    {
      calls,
    },
  )(1);
  // The first lasts too short to be paid: the second comes while it might still be, the third
  // afterwards.
  expect(figures).toMatchObject({
    attempts: 2,
    conversions: 1,
    revenue: 10,
    skip_reasons: { cap_reached: 1 },
  });
});

describe('hours and windows follow the buyer’s zone, over changes of the clocks too', () => {
  const nights: [string, string, string, number][] = [
    ['the spring night of New York', NEW_YORK, '2026-03-07T05:00:00Z', 23],
    ['the autumn night of New York', NEW_YORK, '2026-10-31T04:00:00Z', 25],
    ['clocks that change at midnight in Santiago', 'America/Santiago', '2026-09-05T04:00:00Z', 23],
    ['clocks that change at midnight in Beirut', 'Asia/Beirut', '2026-03-27T22:00:00Z', 23],
  ];
  test.each(nights)(
    '%s: a daily cap starts again at each local midnight',
    (_, zone, begins, hours) => {
      const start = new Date(begins);
      const buyers = [
        buildBuyer(1, { zone }, { caps: caps({ zone, limits: { attempt_daily_limit: 5 } }) }),
      ];
      const ofHours = (count: number) =>
        run(buyers, { calls: repeatCalls(1800, count * 2, start), start })(1).attempts;
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
        ofHours(lengths[0]!),
        ofHours(lengths[0]! + 1),
        ofHours(lengths[0]! + lengths[1]!),
        ofHours(lengths[0]! + lengths[1]! + 1),
      ]).toEqual([5, 7, 10, 12]);
    },
  );

  test('an hour that comes twice counts as two; business hours open at the local time', () => {
    const start = new Date('2026-11-01T04:00:00Z');
    const hourly = [
      {
        open: openMinutes([{ day: 0, times: ['01:00..01:59'] }]),
        limits: { attempt_hourly_limit: 1 },
      },
    ];
    const figures = run([buildBuyer(1)], {
      calls: repeatCalls(600, 24, start),
      start,
      changes: [{ id: 1, hours: hourly, limits: {} }],
    })(1);
    expect(figures).toMatchObject({ attempts: 2, skip_reasons: { closed: 12, cap_reached: 10 } });
  });
});
