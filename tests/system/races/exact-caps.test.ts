import { INTERVALS, type Interval } from '../../../src/domain/caps/caps';
import { endStaleCalls } from '../../../src/domain/calls/end-stale-calls';
import { eventually } from '../../support/engine-process';
import { repetitions } from '../../support/repetitions';
import { twoServers } from '../../support/two-servers';

// Caps over two server processes.

const here = twoServers();
const { create, send } = here;

type Fields = Record<string, unknown>;
const CALLS = repetitions(100, 200);
const CAP = 50;

/** Begins calls at the same time on both processes and returns the ids of those that are dialed. */
async function callAll(offerId: number, count = CALLS): Promise<number[]> {
  const answers = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const callerNumber = `+1310555${String(n).padStart(4, '0')}`;
      // A process that is killed does not answer, or stops in the middle.
      const answered = send(n % 2, 'POST', 'call_sessions', {
        offer_id: offerId,
        caller_number: callerNumber,
      }).then(async (res) => [res.status, await res.text()] as const);
      const [status, text] = await answered.catch(() => [undefined, ''] as const);
      if (status === undefined) return undefined;
      if (status !== 201) throw new Error(text);
      return (JSON.parse(text) as { call_session: { id: number; instruction: { action: string } } })
        .call_session;
    }),
  );
  return answers.flatMap((session) => (session?.instruction.action === 'dial' ? [session.id] : []));
}

const loadHeld = async () => {
  const sums = `
    SELECT
      coalesce(sum(concurrency_cap_used), 0)::int AS slots,
      coalesce(sum(pending_connections), 0)::int AS connections,
      coalesce(sum(pending_conversions), 0)::int AS conversions,
      coalesce(sum(pending_revenue), 0)::float8 AS revenue
    FROM call_limits
    WHERE company_id = $1`;
  return (
    await here.world.sql<Record<'slots' | 'connections' | 'conversions' | 'revenue', number>>(
      sums,
      [here.world.company.id],
    )
  )[0]!;
};
const NOTHING = { slots: 0, connections: 0, conversions: 0, revenue: 0 };

/** $10 per call; what a call may bring is reserved too. */
const PAYS = {
  buyer_conversions_schedule: [
    {
      buyer_conversions_attributes: [
        { name: 'Call', duration: 60, revenue: 10, duplicate_timeframe: 0 },
      ],
      schedule: [],
    },
  ],
};
const toCapLimit = (metric: string) => (metric === 'revenue' ? CAP * 10 : CAP);

describe(`a cap of ${CAP} allows exactly ${CAP} of ${CALLS} calls at once on two processes`, () => {
  beforeEach(async () => void (here.world.company = await here.world.addCompany()));

  const metrics = ['attempt', 'connection', 'buyer_conversion', 'revenue'];
  test.each(
    metrics.flatMap((metric) =>
      INTERVALS.map((interval): [string, Interval] => [metric, interval]),
    ),
  )('%s, %s, of a group and of its buyers together', async (metric, interval) => {
    // The group has the cap, and one of its buyers a smaller one.
    const firstBuyer = await create('buyers', {
      number: '+12125550101',
      ...PAYS,
      ...(interval !== 'hourly' && { [`${metric}_${interval}_limit`]: toCapLimit(metric) / 5 }),
    });
    const secondBuyer = await create('buyers', { number: '+12125550102', ...PAYS });
    const group = await create('buyer_groups', {
      name: 'Both',
      buyer_ids: [firstBuyer, secondBuyer],
      [`${metric}_${interval}_limit`]: toCapLimit(metric),
    });
    expect(
      await callAll(await create('offers', { name: 'Auto', buyer_group_ids: [group] })),
    ).toHaveLength(CAP);
    const byBuyer = await here.world.sql<{ buyer_id: string; n: number }>(
      'SELECT buyer_id, count(*)::int AS n FROM call_attempts WHERE company_id = $1 GROUP BY 1',
      [here.world.company.id],
    );
    expect(byBuyer.reduce((sum, { n }) => sum + n, 0)).toBe(CAP);
    if (interval !== 'hourly')
      expect(
        byBuyer.find(({ buyer_id }) => buyer_id === String(firstBuyer))!.n,
      ).toBeLessThanOrEqual(CAP / 5);
    // Every call has a decision about both buyers.
    const [odd] = await here.world.sql<{ n: number }>(
      `SELECT count(*)::int AS n
      FROM calls c
      WHERE c.company_id = $1
        AND NOT EXISTS (
          SELECT
          FROM call_decisions d
          JOIN decision_bases b
            ON b.company_id = d.company_id AND b.hash = d.decision->>'basis'
          WHERE d.company_id = c.company_id
            AND d.call_id = c.id
            AND (
              SELECT sum((s->>1)::int) FROM json_array_elements(b.basis->'steps') s
            ) = 2
        )`,
      [here.world.company.id],
    );
    expect(odd!.n).toBe(0);
  });

  test('of concurrency; each call that ends allows one more', async () => {
    const buyer = await create('buyers', {
      number: '+12125550101',
      concurrency_cap_limit: CAP,
      ...PAYS,
    });
    const offer = await create('offers', { name: 'Auto', buyer_ids: [buyer] });
    const dialed = await callAll(offer);
    expect(dialed).toHaveLength(CAP);
    expect(await loadHeld()).toEqual({
      slots: CAP,
      connections: CAP,
      conversions: CAP,
      revenue: CAP * 10,
    });
    const [answered, left] = [dialed.slice(0, 20), dialed.slice(20, 30)];
    const report = (call: number, event: string, more: Fields = {}) =>
      here.world.company.api('post', `call_sessions/${call}/events`, { body: { event, ...more } });
    // Each event twice at the same time: it counts once.
    await Promise.all(
      answered.flatMap((call) => [report(call, 'answered'), report(call, 'answered')]),
    );
    await Promise.all(
      answered.flatMap((call) => [
        report(call, 'completed', { duration: 90 }),
        report(call, 'completed', { duration: 90 }),
      ]),
    );
    await Promise.all(left.flatMap((call) => [report(call, 'completed'), report(call, 'busy')]));
    expect(await loadHeld()).toEqual({ slots: 20, connections: 20, conversions: 20, revenue: 200 });
    const { body } = await here.world.company.api('get', `buyers/${buyer}`);
    expect(body.buyer).toMatchObject({
      concurrency_cap_used: 20,
      attempt_total_used: 50,
      connection_total_used: 20,
      buyer_conversion_total_used: 20,
      revenue_total_used: 200,
    });
    expect(await callAll(offer, 60)).toHaveLength(30);
  });

  test('also if a process is killed; its slots are released after their lease', async () => {
    const buyer = await create('buyers', {
      number: '+12125550101',
      concurrency_cap_limit: CAP,
      ...PAYS,
    });
    const offer = await create('offers', { name: 'Auto', buyer_ids: [buyer] });
    const calling = callAll(offer, 300);
    await eventually(async () => (await loadHeld()).slots >= 10, 2);
    await here.kill(1);
    const dialed = await calling;
    await here.restart(1);
    const [attempts] = await here.world.sql<{ n: number }>(
      'SELECT count(*)::int AS n FROM call_attempts WHERE company_id = $1',
      [here.world.company.id],
    );
    // The replies for some that were dialed were lost; none is above the cap.
    expect(attempts!.n).toBe(CAP);
    expect(dialed.length).toBeLessThanOrEqual(CAP);
    expect((await loadHeld()).slots).toBe(CAP);
    // On a slow machine the leases of earlier tests may end meanwhile too.
    await here.world.sql(
      `UPDATE call_slots SET lease_until = now() + interval '1 hour' WHERE company_id <> $1`,
      [here.world.company.id],
    );
    await here.world.sql(
      `UPDATE call_slots SET lease_until = now() - interval '1 second' WHERE company_id = $1`,
      [here.world.company.id],
    );
    const ended = await Promise.all(
      Array.from({ length: 4 }, () => endStaleCalls(here.world.deps)),
    );
    expect(ended.reduce((sum, n) => sum + n, 0)).toBe(CAP);
    expect(await loadHeld()).toEqual(NOTHING);
    expect(await callAll(offer, 60)).toHaveLength(CAP);
  });
});
