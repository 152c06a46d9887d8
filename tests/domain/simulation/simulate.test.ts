import { loadPastCalls } from '../../../src/domain/simulation/read';
import { repetitions } from '../../support/repetitions';
import {
  DAY,
  MONDAY,
  indexRows,
  simulations,
  type Fields,
  type Row,
} from '../../support/simulations';

const { ok, buyer, offer, later, report, simulate, sql, company_id, world } = simulations();

/**
 * Calls a minute apart: every third is not answered by the first it goes to, then is; they last 30
 * and 90 seconds in turn.
 */
async function createCalls(offerId: number, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const call = (
      await ok('post', 'call_sessions', {
        offer_id: offerId,
        caller_number: `+1310555${String(n).padStart(4, '0')}`,
        tokens: { n },
      })
    ).call_session;
    later(5);
    if (n % 3 === 0) await report(call, 'no_answer');
    later(5);
    await report(call, 'answered');
    later(n % 2 === 0 ? 30 : 90);
    await report(call, 'completed');
    later(60);
  }
}

describe('a replay of a day of calls', () => {
  test('as configured gives what really happened, caller by caller, draw by draw', async () => {
    const [firstBuyer, secondBuyer, thirdBuyer] = [
      await buyer({ weight: 3 }),
      await buyer(),
      await buyer({ tier: 2, record_token_filter_list: ['n:>=4'] }),
    ];
    const offerId = await offer({ buyer_ids: [firstBuyer, secondBuyer, thirdBuyer] });
    await createCalls(offerId, 12);
    const simulation = await simulate({ offer_id: offerId, ...DAY, changes: [] });
    expect([simulation.kind, simulation.calls, simulation.totals.real]).toEqual([
      'real',
      12,
      { calls: 12, attempts: 16, connects: 12, conversions: 6, revenue: 60, payout: 0 },
    ]);
    for (const { real, as_configured, as_changed, difference } of indexRows(simulation).values()) {
      expect(as_configured).toMatchObject(real);
      expect(as_changed).toEqual(as_configured);
      expect(new Set(Object.values(difference))).toEqual(new Set([0]));
    }
    expect(indexRows(simulation).get(thirdBuyer)!.as_configured.skip_reasons).toEqual({
      filter_unmet: 6,
    });
    // The replay counts as reports do.
    const report = await ok('get', 'calls/reports');
    expect(report.rows.map(({ key, skip_reasons }: Fields) => [key, skip_reasons])).toEqual(
      [...indexRows(simulation).values()].map((row) => [
        String(row.buyer_id),
        row.as_configured.skip_reasons,
      ]),
    );
  });

  test('with a buyer paused or capped moves calls to the others, and writes nothing', async () => {
    const [firstBuyer, secondBuyer] = [await buyer(), await buyer({ tier: 2 })];
    const offerId = await offer({ buyer_ids: [firstBuyer, secondBuyer] });
    for (let n = 0; n < 8; n++) {
      const call = (
        await ok('post', 'call_sessions', {
          offer_id: offerId,
          caller_number: `+1310555${String(n).padStart(4, '0')}`,
        })
      ).call_session;
      later(2);
      await report(call, 'answered');
      later(90);
      await report(call, 'completed');
    }
    const counted = () =>
      sql('SELECT * FROM call_limits WHERE company_id = $1 ORDER BY id', [company_id()]);
    const before = await counted();
    const paused = indexRows(
      await simulate({
        offer_id: offerId,
        ...DAY,
        changes: [{ buyer_id: firstBuyer, paused: true }],
      }),
    );
    expect(paused.get(firstBuyer)).toMatchObject({
      changed: true,
      as_changed: { attempts: 0, skip_reasons: { paused: 8 } },
      difference: { connects: -8, revenue: -80 },
    });
    expect(paused.get(secondBuyer)).toMatchObject({
      changed: false,
      as_changed: { calls: 8, attempts: 8, connects: 8, revenue: 80 },
      difference: { connects: 8, revenue: 80 },
    });
    const capped = indexRows(
      await simulate({
        offer_id: offerId,
        ...DAY,
        changes: [{ buyer_id: firstBuyer, attempt_daily_limit: 5 }],
      }),
    );
    expect([
      capped.get(firstBuyer)!.as_changed.attempts,
      capped.get(secondBuyer)!.as_changed.attempts,
    ]).toEqual([5, 3]);
    expect(capped.get(firstBuyer)!.as_changed.skip_reasons).toEqual({ cap_reached: 3 });
    const hours = [{ attempt_hourly_limit: 2, schedule: [{ day: 1, times: ['08:00..16:59'] }] }];
    expect(
      indexRows(
        await simulate({
          offer_id: offerId,
          ...DAY,
          changes: [{ buyer_id: firstBuyer, business_hours_schedule: hours }],
        }),
      ).get(firstBuyer)!.as_changed.attempts,
    ).toBe(2);
    // Usage of a cap before the replayed period counts.
    const from = '2026-06-01T12:05:00Z';
    const rest = await simulate({
      offer_id: offerId,
      from,
      to: DAY.to,
      changes: [{ buyer_id: firstBuyer, attempt_daily_limit: 5 }],
    });
    expect([rest.calls, indexRows(rest).get(firstBuyer)!.as_changed.attempts]).toEqual([4, 1]);
    expect(await counted()).toEqual(before);
  });

  test('changes a group: its caps, its way of dialing and its pause', async () => {
    const [firstBuyer, secondBuyer] = [await buyer(), await buyer()];
    const { id } = (
      await ok('post', 'buyer_groups', { name: 'Both', buyer_ids: [firstBuyer, secondBuyer] })
    ).buyer_group;
    const offerId = await offer({ buyer_group_ids: [id] });
    await createCalls(offerId, 3);
    const total = async (change: Fields) =>
      (await simulate({ offer_id: offerId, ...DAY, changes: [{ buyer_group_id: id, ...change }] }))
        .totals.as_changed;
    expect(await total({})).toMatchObject({ calls: 3, attempts: 4, connects: 3 });
    expect(await total({ paused: true })).toMatchObject({
      calls: 0,
      attempts: 0,
      skip_reasons: { group_paused: 6 },
    });
    expect(await total({ attempt_hourly_limit: 2 })).toMatchObject({ attempts: 2 });
    expect(await total({ concurrency_cap: 0 })).toMatchObject({
      attempts: 0,
      skip_reasons: { concurrency_full: 6 },
    });
    expect(await total({ dial_buyers_type: 'simultaneously' })).toMatchObject({
      attempts: 6,
      connects: 3,
    });
  });

  test('knows blacklisted and suppressed callers, and buyers that have paid before', async () => {
    const numbers = ['+13105550000', '+13105550001', '+13105550002', '+13105550003'];
    const list = async (number: string): Promise<number> => {
      const { id } = (await ok('post', 'buyer_suppressions', { name: 'List' })).buyer_suppression;
      await ok('post', `buyer_suppressions/${id}/caller_block`, { caller_ids: [number] });
      return id;
    };
    const buyerId = await buyer({
      current_conversion_duplicate_timeframe: 86_400,
      current_conversion_duration: 20,
    });
    const offerId = await offer({ buyer_ids: [buyerId], skip_duplicates: true });
    for (const callerNumber of [...numbers, numbers[3]!]) {
      const call = (
        await ok('post', 'call_sessions', { offer_id: offerId, caller_number: callerNumber })
      ).call_session;
      if (call.instruction.action !== 'dial') continue;
      later(2);
      await report(call, 'answered');
      later(30);
      await report(call, 'completed');
    }
    await ok('post', 'contacts/caller_block', { caller_ids: [numbers[0]] });
    await ok('put', `buyers/${buyerId}`, { buyer_suppression_ids: [await list(numbers[1]!)] });
    await ok('put', `offers/${offerId}`, { buyer_suppression_ids: [await list(numbers[2]!)] });
    const { as_configured, real } = indexRows(
      await simulate({ offer_id: offerId, ...DAY, changes: [] }),
    ).get(buyerId)!;
    expect(real).toMatchObject({ attempts: 4, revenue: 40 });
    expect(as_configured).toMatchObject({
      attempts: 1,
      revenue: 10,
      skip_reasons: { blacklisted: 1, suppressed: 1, offer_suppressed: 1, duplicate_caller: 1 },
    });
  });
});

const SECONDS = repetitions(200, 2_000);

test('a replay takes all calls of its period, however many, and no others', async () => {
  const buyerId = await buyer();
  const offerId = await offer({ buyer_ids: [buyerId] });
  await sql(
    `INSERT INTO calls (
       company_id, uuid, created_at, updated_at, ended_at, direction, status, carrier, offer_id
     )
     SELECT $1, gen_random_uuid(), x.at, x.at, x.at, 'inbound', 'no_answer', 'softswitch', $2
     FROM (
       SELECT $3::timestamptz + n / 3 * interval '1 second' AS at
       FROM generate_series(0, $4 * 3 + 2) n
     ) x`,
    [company_id(), offerId, MONDAY, SECONDS],
  );
  const from = new Date('2026-06-01T12:00:01Z');
  const to = new Date(Date.parse(MONDAY) + SECONDS * 1_000);
  const count = 3 * (SECONDS - 1);
  const simulation = await simulate({ offer_id: offerId, from, to, changes: [] });
  expect([simulation.calls, simulation.totals.as_configured.connects]).toEqual([count, count]);
  // Three calls are of one time; pages end between them.
  const period = { offer_id: BigInt(offerId), from, to };
  const needs = { tokens: false, history: false, page: 50 };
  const ids: unknown[] = [];
  for await (const page of loadPastCalls(world.deps.tenants.of(company_id()), period, needs))
    ids.push(...page.map(({ id }) => id));
  expect([ids.length, new Set(ids).size]).toEqual([count, count]);
});

describe('a replay of synthetic calls', () => {
  test('repeats with the same seed, and shares calls by the weights', async () => {
    const [firstBuyer, secondBuyer] = [await buyer(), await buyer()];
    const offerId = await offer({ buyer_ids: [firstBuyer, secondBuyer] });
    const synthetic = { calls: 2000, ...DAY, answer_rate: 1, answered_seconds: 90 };
    const body = {
      offer_id: offerId,
      synthetic,
      seed: 'x',
      changes: [{ buyer_id: firstBuyer, weight: 3 }],
    };
    const [simulation, repeatedSimulation] = [await simulate(body), await simulate(body)];
    expect(repeatedSimulation).toEqual(simulation);
    const { as_configured, as_changed } = indexRows(simulation).get(firstBuyer)!;
    expect(Math.abs(Number(as_configured.connects) - 1000)).toBeLessThan(100);
    expect(Math.abs(Number(as_changed.connects) - 1500)).toBeLessThan(100);
    expect(simulation.totals).toMatchObject({
      real: null,
      as_configured: { calls: 2000, revenue: 20_000 },
      difference: { calls: 0, revenue: 0 },
    });
    expect(indexRows(simulation).get(secondBuyer)!.real).toBeNull();
  });

  test('loses calls that no buyer answers, and takes rates from the last weeks', async () => {
    const buyerId = await buyer({
      buyer_conversions_schedule: [
        {
          buyer_conversions_attributes: [{ conversion_type: 'postback', revenue: 20 }],
          schedule: [],
        },
      ],
      current_conversion_revenue: undefined,
      current_conversion_duration: undefined,
    });
    const offerId = await offer({ buyer_ids: [buyerId] });
    for (let n = 0; n < 20; n++) {
      const call = (
        await ok('post', 'call_sessions', {
          offer_id: offerId,
          caller_number: `+1310555${String(n).padStart(4, '0')}`,
        })
      ).call_session;
      later(3);
      await report(call, n < 5 ? 'no_answer' : 'answered');
      if (n < 5) continue;
      later(45);
      await report(call, 'completed');
    }
    later(60);
    const simulation = await simulate({
      offer_id: offerId,
      synthetic: { calls: 1000, ...DAY, tokens: { state: 'CA' } },
      changes: [],
      seed: 'y',
    });
    const [row] = simulation.buyers as Row[];
    expect(row!.answer_rate).toBe(0.75);
    expect(Math.abs(Number(row!.as_configured.connects) - 750)).toBeLessThan(60);
    const ratedSimulation = await simulate({
      offer_id: offerId,
      synthetic: { calls: 1000, ...DAY, answer_rate: 0.5, conversion_rate: 1 },
      changes: [],
      seed: 'y',
    });
    expect(ratedSimulation.totals.as_configured.revenue).toBe(
      ratedSimulation.totals.as_configured.connects * 20,
    );
    expect(Math.abs(ratedSimulation.totals.as_configured.connects - 500)).toBeLessThan(60);
  });
});
