import fc from 'fast-check';
import { endStaleCalls } from '../../../src/domain/calls/end-stale-calls';
import { PAID, PAID_AFTER, held, used, type ModelBuyer } from '../../support/call-model';
import { applyRaced, listOrders, type RacedCall, type RacedEvent } from '../../support/raced-calls';
import { repetitions } from '../../support/repetitions';
import { twoServers } from '../../support/two-servers';

// Events of one call that reach two processes at the same time. Each is decided from the call as it
// was read, and written only if it is still so: what comes of them is what comes of one of their
// orders in the model.

const here = twoServers();
type Fields = Record<string, unknown>;

const PAYOUT = 3;
/** When every call that is under way is considered over. */
const FAR = new Date(Date.now() + 86_400_000);
const CALLER = '+13105550188';
const conversion = (duplicateTimeframe: number) => ({
  buyer_conversions_schedule: [
    {
      buyer_conversions_attributes: [
        {
          name: 'Minute',
          conversion_type: 'duration',
          duration: PAID_AFTER,
          revenue: PAID,
          duplicate_timeframe: duplicateTimeframe,
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
async function setUp(pressOne: boolean) {
  here.world.company = await here.world.addCompany();
  const buyer = (n: number, fields: Fields) =>
    here.create('buyers', { number: `+1212555010${n}`, ...conversion(0), ...fields });
  const [first, second, third] = [
    await buyer(1, {}),
    await buyer(2, { press_one_to_accept: pressOne }),
    await buyer(3, { tier: 2 }),
  ];
  const group = await here.create('buyer_groups', {
    name: 'Both',
    dial_buyers_type: 'simultaneously',
    buyer_ids: [first, second],
  });
  const offer = await here.create('offers', {
    name: 'Auto',
    buyer_ids: [third],
    buyer_group_ids: [group],
    payouts: [{ payout_type: 'fixed', amount: PAYOUT }],
  });
  const source = await here.create('traffic_sources', { name: 'Ads' });
  return { ids: [first!, second!, third!] as const, group, offer, source };
}

const owner = { zone: 'UTC', paused: false, tier: 1, limits: new Map() };

async function begin(pressOne: boolean): Promise<{ id: number; model: RacedCall }> {
  const { ids, group: groupId, offer: offerId, source } = await setUp(pressOne);
  const call = { offer_id: offerId, caller_number: CALLER, traffic_source_id: source };
  const { id } = (await send(0, 'call_sessions', call)).call_session;
  const group = { ...owner, name: `group ${groupId}` as const, at_once: true, uses: [] };
  const buyers = ids.map((buyerId, index): ModelBuyer => ({
    ...owner,
    name: `buyer ${buyerId}`,
    id: buyerId,
    press_one: pressOne && index === 1,
    hours: null,
    suppressed: new Set(),
    direct: index === 2,
    groups: index === 2 ? [] : [group],
    price: PAID,
    balance: null,
    credit: 0,
    uses: [],
  }));
  const dialed = await loadAttempts(id);
  const attempts = dialed.map(({ uuid, buyer_id }) => ({
    uuid,
    buyer: buyers.find((buyer) => buyer.id === Number(buyer_id))!,
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

const loadAttempts = (id: number) =>
  here.world.sql<{ uuid: string; buyer_id: string; status: string }>(
    'SELECT uuid, buyer_id, status FROM call_attempts WHERE call_id = $1 ORDER BY id',
    [id],
  );

const OPEN = ['ringing', 'answered', 'connected'];

/** The stored outcome of a call, from all tables that have part of it. */
async function loadStoredOutcome(id: number) {
  const attempts = await loadAttempts(id);
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
function toExpectedOutcome({ buyers, groups, call, is_lost, paid }: RacedCall) {
  const total = (capOwner: ModelBuyer | RacedCall['groups'][number], metric: 'connection') =>
    used(capOwner, { metric, interval: 'total' }, FAR);
  const caps = [...buyers, ...groups].map((capOwner) => {
    const { slots, connections, conversions, revenue } = held(capOwner, [call]);
    const sold = total(capOwner, 'buyer_conversion' as 'connection');
    return {
      name: capOwner.name as string,
      connections: total(capOwner, 'connection'),
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
  const { event, index, seconds } = raced;
  if (event === 'lost') return endStaleCalls({ ...here.world.deps, clock: () => FAR });
  const body = { ...(NAMES[event] ?? { event }), attempt: uuids[index] };
  const talks = event === 'completed' || event === 'duration';
  return send(server, `call_sessions/${id}/events`, talks ? { ...body, duration: seconds } : body);
}

/**
 * The states that some order of the events leads to. A call about which an event arrives while it
 * is looked at is not lost.
 */
function listOutcomes(models: readonly RacedCall[], events: readonly RacedEvent[]): RacedCall[] {
  const reported = events.filter(({ event }) => event !== 'lost');
  const orders = [
    ...listOrders(events),
    ...(reported.length < events.length ? listOrders(reported) : []),
  ];
  return models.flatMap((model) =>
    orders.map((order) => {
      const copy = structuredClone(model);
      for (const event of order) applyRaced(copy, event);
      return copy;
    }),
  );
}

const events = fc.record({
  event: fc.constantFrom<RacedEvent['event'][]>(
    ...(['answered', 'answered', 'press', 'press', 'decline', 'no_answer', 'busy'] as const),
    ...(['completed', 'completed', 'duration', 'duration', 'ringing', 'lost'] as const),
  ),
  index: fc.nat(2),
  seconds: fc.constantFrom(0, 10, 70, 90),
});

test('events that reach two processes at the same time are handled in one of their orders', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.array(fc.array(events, { minLength: 2, maxLength: 4 }), { minLength: 3, maxLength: 5 }),
      async (pressOne, batches) => {
        const { id, model } = await begin(pressOne);
        let models = [model];
        for (const batch of batches) {
          const uuids = (await loadAttempts(id)).map(({ uuid }) => uuid);
          const racedEvents = batch.map((event) => ({
            ...event,
            index: event.index % uuids.length,
          }));
          await Promise.all(racedEvents.map((event, n) => report(id, n % 2, uuids, event)));
          const now = await loadStoredOutcome(id);
          const outcomes = listOutcomes(models, racedEvents);
          const shown = JSON.stringify(now);
          models = outcomes.filter((model) => JSON.stringify(toExpectedOutcome(model)) === shown);
          if (models.length === 0)
            expect({ events: racedEvents, outcome: now }).toEqual({
              events: racedEvents,
              outcome: toExpectedOutcome(outcomes[0]!),
            });
          models = [
            ...new Map(
              models.map((model) => [
                JSON.stringify([model.call, model.next, model.cut_off, model.paid]),
                model,
              ]),
            ).values(),
          ];
        }
      },
    ),
    { seed: 4_108, numRuns: repetitions(12, 400), endOnFailure: true },
  );
});
