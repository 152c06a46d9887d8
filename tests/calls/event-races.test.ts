import fc from 'fast-check';
import { endStaleCalls } from '../../src/calls/end-stale-calls';
import { PAID, PAID_AFTER, held, used, type ModelBuyer } from '../support/call-model';
import { applyRaced, ordersOf, type RacedCall, type RacedEvent } from '../support/raced-calls';
import { repetitions } from '../support/repetitions';
import { twoServers } from '../support/two-servers';

// Events of one call that reach two processes at the same time. Each is decided from the call as it
// was read, and written only if it is still so: what comes of them is what comes of one of their
// orders in the model.

const here = twoServers();
type Fields = Record<string, unknown>;

const PAYOUT = 3;
/** When every call that is under way is considered over. */
const FAR = new Date(Date.now() + 86_400_000);
const CALLER = '+13105550188';
const conversion = (duplicate_timeframe: number) => ({
  buyer_conversions_schedule: [
    {
      buyer_conversions_attributes: [
        {
          name: 'Minute',
          conversion_type: 'duration',
          duration: PAID_AFTER,
          revenue: PAID,
          duplicate_timeframe,
        },
      ],
      schedule: [],
    },
  ],
});

async function send(server: number, path: string, body: Fields) {
  const res = await here.send(server, 'POST', path, body);
  // An event about a buyer of whom the call knows nothing yet is refused, and one whose key or
  // seconds would not be used.
  if (res.status >= 300 && res.status !== 422 && res.status !== 409)
    throw new Error(await res.text());
  return (await res.json()) as { call_session: Fields & { id: number; uuid: string } };
}

/** Two buyers that ring at once, and a third whose turn is after them. */
async function setUp(press_one: boolean) {
  here.world.company = await here.world.addCompany();
  const buyer = (n: number, fields: Fields) =>
    here.create('buyers', { number: `+1212555010${n}`, ...conversion(0), ...fields });
  const [one, two, three] = [
    await buyer(1, {}),
    await buyer(2, { press_one_to_accept: press_one }),
    await buyer(3, { tier: 2 }),
  ];
  const group = await here.create('buyer_groups', {
    name: 'Both',
    dial_buyers_type: 'simultaneously',
    buyer_ids: [one, two],
  });
  const offer = await here.create('offers', {
    name: 'Auto',
    buyer_ids: [three],
    buyer_group_ids: [group],
    payouts: [{ payout_type: 'fixed', amount: PAYOUT }],
  });
  const source = await here.create('traffic_sources', { name: 'Ads' });
  return { ids: [one!, two!, three!] as const, group, offer, source };
}

const owner = { zone: 'UTC', paused: false, tier: 1, limits: new Map() };

async function begin(press_one: boolean): Promise<{ id: number; model: RacedCall }> {
  const { ids, group: group_id, offer: offer_id, source } = await setUp(press_one);
  const call = { offer_id, caller_number: CALLER, traffic_source_id: source };
  const { id } = (await send(0, 'call_sessions', call)).call_session;
  const group = { ...owner, name: `group ${group_id}` as const, at_once: true, uses: [] };
  const buyers = ids.map((buyer_id, place): ModelBuyer => ({
    ...owner,
    name: `buyer ${buyer_id}`,
    id: buyer_id,
    press_one: press_one && place === 1,
    hours: null,
    suppressed: new Set(),
    direct: place === 2,
    groups: place === 2 ? [] : [group],
    price: PAID,
    balance: null,
    credit: 0,
    uses: [],
  }));
  const dialed = await attemptsOf(id);
  const attempts = dialed.map(({ uuid, buyer_id }) => ({
    uuid,
    buyer: buyers.find((each) => each.id === Number(buyer_id))!,
    group,
    status: 'ringing' as const,
    converted: false,
    returnable: [],
  }));
  expect(attempts).toHaveLength(2);
  const next = buyers.slice(2);
  const model = { buyers, groups: [group], next, is_lost: false, cut_off: [], paid: 0 };
  return { id, model: { ...model, call: { id, caller: CALLER, attempts, ended: false } } };
}

const attemptsOf = (id: number) =>
  here.world.sql<{ uuid: string; buyer_id: string; status: string }>(
    'SELECT uuid, buyer_id, status FROM call_attempts WHERE call_id = $1 ORDER BY id',
    [id],
  );

const OPEN = ['ringing', 'answered', 'connected'];

/** The stored outcome of a call, from all tables that have part of it. */
async function written(id: number) {
  const attempts = await attemptsOf(id);
  const [call] = await here.world.sql<Fields>(
    `SELECT
      ended_at IS NOT NULL AS ended, hangup_cause = 'lost' AS is_lost,
      revenue::float8 AS revenue, payout::float8 AS payout, buyer_converted,
      (SELECT count(*)::int FROM conversions v WHERE v.call_id = calls.id) AS conversions,
      (SELECT count(*)::int FROM call_events e WHERE e.call_id = calls.id AND event = 'converted')
        AS converted,
      (SELECT count(*)::int FROM call_events e WHERE e.call_id = calls.id AND event = 'payout')
        AS paid
    FROM calls WHERE id = $1`,
    [id],
  );
  const caps = await here.world.sql<Fields & { name: string }>(
    `SELECT
      coalesce('buyer ' || buyer_id, 'group ' || buyer_group_id) AS name,
      connection_total_used AS connections, buyer_conversion_total_used AS conversions,
      revenue_total_used::float8 AS revenue, earned_revenue_total_used::float8 AS earned,
      concurrency_cap_used AS slots, pending_connections, pending_conversions,
      pending_revenue::float8 AS pending_revenue
    FROM call_limits WHERE company_id = $1`,
    [here.world.company.id],
  );
  return {
    attempts: attempts.map(({ buyer_id, status }) => [
      Number(buyer_id),
      OPEN.includes(status) ? status : 'over',
    ]),
    call: { ...call, is_lost: call!.is_lost ?? false },
    caps: caps.toSorted(byName),
  };
}

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);

/** The outcome of a model, in the same form. */
function expected({ buyers, groups, call, is_lost, paid }: RacedCall) {
  const total = (each: ModelBuyer | RacedCall['groups'][number], metric: 'connection') =>
    used(each, { metric, interval: 'total' }, FAR);
  const caps = [...buyers, ...groups].map((each) => {
    const { slots, connections, conversions, revenue } = held(each, [call]);
    const sold = total(each, 'buyer_conversion' as 'connection');
    return {
      name: each.name as string,
      connections: total(each, 'connection'),
      conversions: sold,
      revenue: sold * PAID,
      earned: sold * (PAID - PAYOUT),
      slots,
      pending_connections: connections,
      pending_conversions: conversions,
      pending_revenue: revenue,
    };
  });
  return {
    attempts: call.attempts.map(({ buyer, status }) => [buyer.id, status]),
    call: {
      ended: call.ended,
      is_lost,
      revenue: paid * PAID,
      payout: paid * PAYOUT,
      buyer_converted: paid > 0,
      conversions: paid,
      converted: paid,
      paid,
    },
    caps: caps.toSorted(byName),
  };
}

const NAMES: Partial<Record<RacedEvent['event'], Fields>> = {
  press: { event: 'key_press', key: '1' },
  decline: { event: 'key_press', key: '2' },
};

async function report(id: number, server: number, uuids: string[], raced: RacedEvent) {
  const { event, place, seconds } = raced;
  if (event === 'lost') return endStaleCalls({ ...here.world.deps, clock: () => FAR });
  const body = { ...(NAMES[event] ?? { event }), attempt: uuids[place] };
  const talks = event === 'completed' || event === 'duration';
  return send(server, `call_sessions/${id}/events`, talks ? { ...body, duration: seconds } : body);
}

/**
 * The states that some order of the events leads to. A call about which an event arrives while it
 * is looked at is not lost.
 */
function outcomesOf(models: readonly RacedCall[], events: readonly RacedEvent[]): RacedCall[] {
  const reported = events.filter(({ event }) => event !== 'lost');
  const orders = [
    ...ordersOf(events),
    ...(reported.length < events.length ? ordersOf(reported) : []),
  ];
  return models.flatMap((model) =>
    orders.map((order) => {
      const copy = structuredClone(model);
      for (const each of order) applyRaced(copy, each);
      return copy;
    }),
  );
}

const events = fc.record({
  event: fc.constantFrom<RacedEvent['event'][]>(
    ...(['answered', 'answered', 'press', 'press', 'decline', 'no_answer', 'busy'] as const),
    ...(['completed', 'completed', 'duration', 'duration', 'ringing', 'lost'] as const),
  ),
  place: fc.nat(2),
  seconds: fc.constantFrom(0, 10, 70, 90),
});

test('events that reach two processes at the same time are handled in one of their orders', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.array(fc.array(events, { minLength: 2, maxLength: 4 }), { minLength: 3, maxLength: 5 }),
      async (press_one, batches) => {
        const { id, model } = await begin(press_one);
        let models = [model];
        for (const batch of batches) {
          const uuids = (await attemptsOf(id)).map(({ uuid }) => uuid);
          const known = batch.map((each) => ({ ...each, place: each.place % uuids.length }));
          await Promise.all(known.map((each, n) => report(id, n % 2, uuids, each)));
          const now = await written(id);
          const outcomes = outcomesOf(models, known);
          const shown = JSON.stringify(now);
          models = outcomes.filter((each) => JSON.stringify(expected(each)) === shown);
          if (models.length === 0)
            expect({ known, outcome: now }).toEqual({ known, outcome: expected(outcomes[0]!) });
          models = [
            ...new Map(
              models.map((each) => [
                JSON.stringify([each.call, each.next, each.cut_off, each.paid]),
                each,
              ]),
            ).values(),
          ];
        }
      },
    ),
    { seed: 4_108, numRuns: repetitions(12, 400), endOnFailure: true },
  );
});
