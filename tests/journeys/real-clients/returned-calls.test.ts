import { softswitch } from '../../support/softswitch';
import { ALL, RETURNED, SOLD, soldCalls, readUsage, WINDOWS } from '../../support/sold-calls';

// Buyers return calls: what was counted for them is taken back, once.

const here = softswitch('2026-06-01T16:30:00Z'); // Monday 12:30 in New York
const { ok, begin, report, time } = here;
const { sold, loadEvents } = soldCalls(here);

test('buyer_converted=false takes the whole conversion back, and the events have the reason', async () => {
  const { call, shown, change, books } = await sold();
  expect(await books()).toMatchObject(SOLD);
  here.later(60);
  const res = await change({ buyer_converted: 'false', adjustment_reason: 'wrong state' });
  expect([res.status, res.body.warnings]).toEqual([200, {}]);
  expect(await shown()).toMatchObject({
    buyer_converted: false,
    buyer_revenue: 0,
    revenue: 0,
    traffic_source_converted: false,
    payout: 0,
  });
  expect(await books()).toMatchObject(RETURNED);
  expect((await loadEvents(call)).slice(-2)).toMatchObject([
    {
      event: 'conversion_returned',
      message: 'the buyer no longer pays $20.00: wrong state',
      details: { revenue: 20, adjustment_reason: 'wrong state' },
    },
    {
      event: 'payout_returned',
      message: 'the traffic source is no longer paid $7.00: wrong state',
      details: { payout: 7, adjustment_reason: 'wrong state' },
    },
  ]);
});

test('the same return twice is one', async () => {
  const { call, change, books } = await sold();
  await change({ buyer_converted: false, adjustment_reason: 'twice' });
  const events = await loadEvents(call);
  const repeated = await change({ buyer_converted: false, adjustment_reason: 'twice' });
  expect([repeated.status, repeated.body.warnings]).toEqual([200, {}]);
  expect(await loadEvents(call)).toEqual(events);
  expect(await books()).toMatchObject(RETURNED);
});

test('offer_converted=false takes the payout back alone, and true pays it again', async () => {
  const { shown, change, books } = await sold();
  await change({ offer_converted: '0', adjustment_reason: 'bot' });
  expect(await shown()).toMatchObject({
    buyer_converted: true,
    revenue: 20,
    traffic_source_converted: false,
    payout: 0,
  });
  expect(await books()).toMatchObject({
    buyer: ALL([1, 20, 20]),
    group: ALL([1, 20, 20]),
    lead: { revenue: 20, payout: 0, buyer_converted: true, offer_converted: false },
    report: { revenue: 20, payout: 0, profit: 20 },
    counted: 1,
    paid: 0,
  });
  for (let n = 0; n < 2; n++) await change({ offer_converted: true });
  expect(await books()).toMatchObject(SOLD);
});

test('a return keeps the payout where the request says so', async () => {
  const { shown, change, books } = await sold();
  await change({ buyer_converted: false, offer_converted: true });
  expect(await shown()).toMatchObject({ revenue: 0, payout: 7, traffic_source_converted: true });
  expect(await books()).toMatchObject({ buyer: ALL([0, 0, -7]), paid: 1, counted: 0 });
});

test.each([
  ['hour', '2026-06-01T17:10:00Z', { hourly: [0, 0, 0], daily: [0, 0, 0] }],
  ['day', '2026-06-02T04:00:00Z', { daily: [0, 0, 0], monthly: [0, 0, 0] }],
  ['month', '2026-07-01T04:00:00Z', { monthly: [0, 0, 0], total: [0, 0, 0] }],
])('a return in a later %s leaves what is used in the window of that time', async (_, at, none) => {
  const { buyer, offer: offerId, change, books } = await sold();
  time.set(at);
  const next = await begin(offerId, { caller_number: '+13105550189' });
  await report(next, 'answered');
  here.later(10);
  await report(next, 'completed', { duration: 10 });
  const before = readUsage((await ok('get', `buyers/${buyer}`)).buyer);
  await change({ buyer_converted: false });
  const after = (await books()).buyer;
  const ended = Object.keys(none)[0]!;
  for (const window of WINDOWS) {
    const isEnded = WINDOWS.indexOf(window) <= WINDOWS.indexOf(ended);
    const [conversions, revenue] = before[window] as [number, number];
    expect([window, after[window]!.slice(0, 2)]).toEqual([
      window,
      isEnded ? [1, 20] : [conversions - 1, revenue - 20],
    ]);
  }
});

test('dollars that were added later are taken back from the windows in which they were added', async () => {
  const { change, books } = await sold();
  time.set('2026-06-01T17:10:00Z');
  await change({ add_revenue: 5 });
  expect((await books()).buyer).toMatchObject({ hourly: [0, 5, 5], daily: [1, 25, 18] });
  here.later(60);
  await change({ buyer_converted: false });
  expect(await books()).toMatchObject(RETURNED);
});

test('counters that were reset after the conversion stay as they are', async () => {
  const { buyer, change, books } = await sold();
  here.later(60);
  await ok('put', `buyers/${buyer}`, { reset_total_caps: true });
  await change({ buyer_converted: false });
  expect((await books()).buyer).toMatchObject({ total: [0, 0, 0], daily: [0, 0, 0] });
});

test('a returned call converts again when the buyer reports it, and the caller may be sold again', async () => {
  const { shown, change, books, offer: offerId, buyer } = await sold();
  await ok('put', `buyers/${buyer}`, { current_conversion_duplicate_timeframe: 86_400 });
  await change({ buyer_converted: false });
  const secondCall = await begin(offerId);
  await report(secondCall, 'answered');
  await report(secondCall, 'completed', { duration: 10 });
  expect((await ok('get', `calls/${secondCall.id}`)).call.buyer_converted).toBe(true);
  await here.world.company.api('post', `calls/${secondCall.id}`, {
    body: { buyer_converted: false },
  });
  await change({ buyer_converted: true, revenue: 15 });
  expect(await shown()).toMatchObject({ buyer_converted: true, revenue: 15, payout: 7 });
  expect((await books()).buyer).toEqual(ALL([1, 15, 8]));
  await change({ buyer_converted: false });
  expect(await books()).toMatchObject(RETURNED);
});

test('a call in progress that was returned does not convert by its duration', async () => {
  const { offer: offerId, change, books } = await sold();
  await change({ buyer_converted: false });
  const call = await begin(offerId, { caller_number: '+13105550190' });
  await report(call, 'answered');
  here.later(6);
  await report(call, 'duration', { duration: 6 });
  const path = `calls/${call.id}`;
  expect((await ok('get', path)).call.buyer_converted).toBe(true);
  await ok('post', path, { buyer_converted: false });
  here.later(6);
  await report(call, 'completed', { duration: 12 });
  expect((await ok('get', path)).call).toMatchObject({
    buyer_converted: false,
    revenue: 0,
    payout: 0,
  });
  expect((await books()).buyer).toEqual(ALL([0, 0, 0]));
});

test('a lead whose other call was paid for has still converted', async () => {
  const { offer: offerId, change, books, lead, traffic_source_id } = await sold();
  const second = await begin(offerId, { traffic_source_id });
  await report(second, 'answered');
  await report(second, 'completed', { duration: 10 });
  expect((await books()).lead).toMatchObject({ id: lead, revenue: 40, payout: 14 });
  await change({ buyer_converted: false });
  expect((await books()).lead).toMatchObject({
    revenue: 20,
    payout: 7,
    buyer_converted: true,
    offer_converted: true,
  });
});

describe('at the same moment', () => {
  test('returns of one call count once', async () => {
    const { call, change, books } = await sold();
    const all = await Promise.all(
      Array.from({ length: 6 }, () => change({ buyer_converted: false })),
    );
    expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    expect(await books()).toMatchObject(RETURNED);
    const names = (await loadEvents(call)).map(({ event }) => event);
    expect(names.filter((name) => name === 'conversion_returned')).toHaveLength(1);
  });

  test('returns of calls and conversions of others leave what the last of them says', async () => {
    const { buyer, offer: offerId, change, books, traffic_source_id } = await sold();
    const otherCalls = await Promise.all(
      [1, 2, 3].map((n) => begin(offerId, { caller_number: `+1310555010${n}`, traffic_source_id })),
    );
    for (const otherCall of otherCalls) await report(otherCall, 'answered');
    here.later(10);
    await Promise.all([
      change({ buyer_converted: false }),
      ...otherCalls.map((otherCall) => report(otherCall, 'completed', { duration: 10 })),
    ]);
    expect((await books()).buyer).toEqual(ALL([3, 60, 39]));
    expect((await ok('get', `calls?buyer_id=${buyer}&buyer_converted=true`)).calls).toHaveLength(3);
  });

  test('a return and a report of the same call leave one of the two, and its caps', async () => {
    for (let n = 0; n < 5; n++) {
      const { shown, change, books } = await sold();
      await Promise.all([
        change({ buyer_converted: false }),
        change({ buyer_converted: true }),
        change({ buyer_converted: false }),
      ]);
      const { buyer_converted } = await shown();
      const { buyer } = await books();
      expect(buyer).toEqual(ALL(buyer_converted ? [1, 20, 13] : [0, 0, 0]));
    }
  });
});
