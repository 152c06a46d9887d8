import { openTwilio } from '../../platform/carriers/requests';
import { lookUpCosts, WAITS } from '../../../src/domain/calls/look-up-costs';
import { patient } from '../../support/patience';
import { switchboard } from '../../support/switchboard';
import { useTwilio } from '../../support/use-twilio';
import { addRecording } from '../../support/recorded-calls';
import type { Fields } from '../../support/records';

// Costs of calls: charges of the carrier for all legs, and the price of the service per minute.

const here = useTwilio({ clock: '2026-06-01T16:00:00Z' });
const { world } = here;
const { clock: time, api, ok, create } = world;
beforeEach(() => world.sql('DELETE FROM call_cost_looks'));

const later = (minutes: number) => time.later(minutes * 60);
const lookUp = () =>
  lookUpCosts({ ...world.deps, carrier: openTwilio(here.server, { timeout_ms: patient(500) }) });
const loadCost = async (id: string): Promise<number | null> =>
  (await ok('get', `calls/${id}`)).call.provider_cost;
const loadLooks = () => world.sql<{ tries: number; due_at: Date }>('SELECT * FROM call_cost_looks');

/** An ended call through the carrier that two buyers were dialed for, and its legs there. */
async function createEndedCall(prices: (string | null)[], unit = 'USD') {
  const board = switchboard(world, time);
  const buyers = [await board.buyer({ tier: 1 }), await board.buyer({ tier: 2 })] as const;
  await board.offer([...buyers]);
  const played = await board.placeCall({
    to: board.companyNumber,
    buyers: {
      [buyers[0].number]: { does: 'busy' },
      [buyers[1].number]: { does: 'answer', talks: 30 },
    },
  });
  const { id, ended_at } = await board.loadCall(played);
  const statuses = ['completed', 'busy', 'completed'];
  here.server.calls.push(
    ...prices.map((price, n) => ({
      sid: n === 0 ? played.sid : `${played.sid}-${n}`,
      parent_call_sid: n === 0 ? null : played.sid,
      status: statuses[n]!,
      price,
      price_unit: unit,
    })),
  );
  return { id, sid: played.sid, ended_at: ended_at as Date, board };
}
const setPrice = (sid: string, n: number, price: string) => {
  const leg = here.server.calls.find((call) => call.sid === (n === 0 ? sid : `${sid}-${n}`))!;
  leg.price = price;
};

test('the prices of all legs add up; the carrier is asked a minute after the end', async () => {
  const { id } = await createEndedCall(['-0.0085', null, '-0.0140']);
  expect(await lookUp()).toBe(0);
  expect(await loadCost(id)).toBeNull();
  later(1);
  expect(await lookUp()).toBe(1);
  expect(await loadCost(id)).toBe(0.0225);
  expect(await loadLooks()).toEqual([]);
});

test('a price that is absent at once is asked for again, with growing waits', async () => {
  const { id, sid } = await createEndedCall(['-0.0085', null, null]);
  later(1);
  for (const [n, wait] of WAITS.entries()) {
    expect(await lookUp()).toBe(1);
    const [look] = await loadLooks();
    expect([look!.tries, look!.due_at]).toEqual([
      n + 1,
      new Date(time.read().getTime() + wait * 60_000),
    ]);
    expect(await loadCost(id)).toBeNull();
    later(wait);
  }
  expect(WAITS).toEqual(WAITS.toSorted((a, b) => a - b));
  setPrice(sid, 2, '-0.014');
  await lookUp();
  expect(await loadCost(id)).toBe(0.0225);
});

test('it is given up after two days, and a price that is told then still counts', async () => {
  const { id, sid, board } = await createEndedCall(['-0.0085', null, null]);
  for (let n = 0; n <= WAITS.length; n++) {
    later(WAITS[n - 1] ?? 1);
    await lookUp();
  }
  expect(await loadLooks()).toEqual([]);
  const attempt = { call: (await board.loadCall({ sid })).uuid };
  const [{ uuid }] = (await world.sql(
    'SELECT uuid FROM call_attempts WHERE call_id = $1 ORDER BY id DESC',
    [id],
  )) as [{ uuid: string }];
  const query = new URLSearchParams({
    ...attempt,
    attempt: uuid,
    number: board.companyNumber.slice(1),
  });
  const callback = {
    CallStatus: 'completed',
    CallSid: `${sid}-2`,
    Price: '-0.014',
    PriceUnit: 'USD',
  };
  await board.post(`${board.hook('attempt_status')}?${query.toString()}`, callback);
  await lookUp();
  expect(await loadCost(id)).toBe(0.0225);
});

test('the price that a status callback tells is taken where the carrier tells none', async () => {
  const { id, sid, board } = await createEndedCall([null, null, '-0.0140']);
  const end = {
    CallSid: sid,
    To: board.companyNumber,
    From: '+13105550188',
    CallStatus: 'completed',
  };
  const prices: Record<string, string>[] = [
    {},
    { Price: 'unknown' },
    { Price: '-0.0085' },
    { Price: '-0.0085', PriceUnit: 'usd' },
  ];
  for (const price of prices) {
    const answer = await board.post(board.hook('voice_status'), { ...end, ...price });
    expect(answer.status).toBe(200);
  }
  // It is known at once, without a wait for the next look.
  expect(await lookUp()).toBe(1);
  expect(await loadCost(id)).toBe(0.0225);
});

test('is written exactly once, however many processes ask at the same time', async () => {
  const { id, sid } = await createEndedCall(['-0.01', null, '-0.02']);
  const hook = { owner_type: 'Company', trigger_type: 'call_changed', url: 'https://example.com/' };
  await create('outgoing_webhooks', { name: 'Changes', ...hook });
  later(1);
  const counts = await Promise.all([lookUp(), lookUp(), lookUp(), lookUp()]);
  expect(counts.reduce((sum, n) => sum + n)).toBe(1);
  expect(await loadCost(id)).toBe(0.03);
  setPrice(sid, 0, '-9');
  later(60);
  await lookUp();
  expect(await loadCost(id)).toBe(0.03);
  const events = await world.sql('SELECT kind FROM webhook_events WHERE company_id = $1', [
    world.company.id,
  ]);
  expect(events).toEqual([{ kind: 'call_changed' }]);
});

test('a carrier that does not answer, or refuses, is asked again', async () => {
  const { id } = await createEndedCall(['-0.01', null, '-0.02']);
  later(1);
  here.server.trouble([{ status: 503 }]);
  await lookUp();
  later(WAITS[0]!);
  here.server.trouble(['break']);
  await lookUp();
  expect([await loadCost(id), (await loadLooks()).length]).toEqual([null, 1]);
  later(WAITS[1]!);
  await lookUp();
  expect(await loadCost(id)).toBe(0.03);
});

test('a price in another currency is not shown as dollars', async () => {
  const { id } = await createEndedCall(['-0.01', null, '-0.02'], 'EUR');
  later(1);
  await lookUp();
  expect([await loadCost(id), await loadLooks()]).toEqual([null, []]);
});

test('an outbound call costs what its own leg and the one it was connected to cost', async () => {
  const rows = await world.sql<{ id: string; uuid: string }>(
    addRecording(`INSERT INTO calls (company_id, direction, status, carrier, carrier_call_id, from_number,
       to_number, caller_number, uuid)
     VALUES ($1, 'outbound', 'in_progress', 'twilio', $2, 12025550199, 13105550188, 13105550188,
       gen_random_uuid())
     RETURNING id, uuid`),
    [world.company.id, `CAcost${world.company.id}`],
  );
  const [{ id, uuid }] = rows as [{ id: string; uuid: string }];
  const sid = `CAcost${world.company.id}`;
  const board = switchboard(world, time);
  await board.offer([]);
  const form = {
    CallSid: sid,
    From: board.companyNumber,
    CallStatus: 'completed',
    CallDuration: '61',
  };
  const callback = { ...form, Price: '-0.013', PriceUnit: 'usd' };
  await board.post(`${board.hook('call_status')}?key=${uuid}`, callback);
  here.server.calls.push(
    { sid, status: 'completed', price: null, price_unit: 'USD' },
    { sid: `${sid}-1`, parent_call_sid: sid, status: 'completed', price: '-0.02', price_unit: '' },
  );
  await lookUp();
  expect(await loadCost(id)).toBe(0.033);
});

test('without an account at the carrier, what its callbacks tell of every leg is the cost', async () => {
  const { id, sid, board } = await createEndedCall([]);
  const end = {
    CallSid: sid,
    To: board.companyNumber,
    From: '+13105550188',
    CallStatus: 'completed',
  };
  await board.post(board.hook('voice_status'), { ...end, Price: '-0.0085' });
  // The prices of the legs to the buyers are still unknown.
  await lookUpCosts(world.deps);
  expect(await loadCost(id)).toBeNull();
  const legs = await world.sql<{ attempt: string; leg_sid: string }>(
    `SELECT DISTINCT details->>'attempt' AS attempt, details->>'leg_sid' AS leg_sid
     FROM call_events WHERE call_id = $1 AND details->>'leg_sid' IS NOT NULL`,
    [id],
  );
  expect(legs.length).toBeGreaterThan(0);
  const { uuid } = await board.loadCall({ sid });
  for (const { attempt, leg_sid } of legs) {
    const query = new URLSearchParams({
      call: uuid,
      attempt,
      number: board.companyNumber.slice(1),
    });
    const callback = { CallStatus: 'completed', CallSid: leg_sid, Price: '-0.01' };
    await board.post(`${board.hook('attempt_status')}?${query.toString()}`, callback);
  }
  await lookUpCosts(world.deps);
  expect(await loadCost(id)).toBeCloseTo(0.0085 + 0.01 * legs.length, 10);
});

describe('service_cost', () => {
  const rate = (serviceCostPerMinute: number) =>
    api('put', 'company', { body: { service_cost_per_minute: serviceCostPerMinute } });
  const endCall = async (seconds: number) => {
    const buyer = await create('buyers', { number: '+12125550177' });
    const offer = await create('offers', { name: 'Auto', buyer_ids: [buyer] });
    const body = { offer_id: offer, caller_number: '+13105550188' };
    const { id } = (await ok('post', 'call_sessions', body)).call_session;
    const event = (fields: Fields) => ok('post', `call_sessions/${id}/events`, fields);
    await event({ event: 'answered' });
    time.later(seconds);
    const shown = async (): Promise<number> => (await ok('get', `calls/${id}`)).call.service_cost;
    const before = await shown();
    await event({ event: 'completed' });
    return { before, shown };
  };

  test('is the price of the company for each begun minute, as it was at the end', async () => {
    expect((await ok('get', 'company')).company).toMatchObject({ service_cost_per_minute: 0 });
    const free = await endCall(61);
    await rate(0.0125);
    const two = await endCall(61);
    expect([two.before, await two.shown(), await free.shown()]).toEqual([0, 0.025, 0]);
    const oneMinute = await endCall(60);
    await rate(1);
    expect([await oneMinute.shown(), await two.shown()]).toEqual([0.0125, 0.025]);
    // The price is read as it was written.
    expect((await rate(0.5)).body.company.service_cost_per_minute).toBe(0.5);
    expect((await rate(-1)).status).toBe(422);
  });

  test('is of the duration that the carrier tells after the end', async () => {
    await rate(0.1);
    const { shown } = await endCall(61);
    expect(await shown()).toBe(0.2);
    await world.sql(
      addRecording(
        `UPDATE calls
        SET total_duration = 30, service_cost = service_cost_after(c, 30, c.ended_at)
        WHERE ended_at IS NOT NULL`,
      ),
    );
    expect(await shown()).toBe(0.1);
  });
});
