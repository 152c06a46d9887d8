import { endStaleCalls } from '../../../src/domain/calls/end-stale-calls';
import { softswitch } from '../../support/softswitch';
import { createMember } from '../../support/teams';

// Why a buyer does not pay for a call that it had: one event, the decision, the call, the report.

const here = softswitch('2026-06-01T16:30:00Z');
const { ok, begin, report, later } = here;

const ALWAYS = Array.from({ length: 7 }, (_, day) => ({ day, times: ['00:00..23:59'] }));
const pays = (...conversions: object[]) => ({
  buyer_conversions_schedule: [
    {
      buyer_conversions_attributes: conversions.map((conversion) => ({
        ...{ conversion_type: 'duration', duration: 60, revenue: 20 },
        ...conversion,
      })),
      schedule: ALWAYS,
    },
  ],
});

interface Case {
  buyer: number;
  offer: number;
  call: { id: number };
}

async function offerTo(fields: object): Promise<Pick<Case, 'buyer' | 'offer'>> {
  const buyer = await here.buyer(fields as Record<string, unknown>);
  return { buyer, offer: await here.offer({ buyer_ids: [buyer] }) };
}

/** A call that the buyer takes and that ends after these seconds. */
async function talk(offer: number, seconds: number, more: object = {}): Promise<{ id: number }> {
  const call = await begin(offer, more as Record<string, unknown>);
  await report(call, 'answered');
  later(seconds);
  await report(call, 'completed', { duration: seconds });
  return call;
}

async function read({ id }: { id: number }) {
  const { billing } = await ok('get', `calls/${id}/decision`);
  const { call } = await ok('get', `calls/${id}`);
  const { call_events } = await ok('get', `calls/${id}/events`);
  const said = (call_events as { event: string; message: string }[])
    .filter(({ event }) => event === 'not_converted')
    .map(({ message }) => message);
  expect(call.unbilled_reason).toBe(billing?.reason ?? null);
  return { billing, said };
}

const countReasons = async (query = '') =>
  (await ok('get', `calls/reports?${query}`)).totals.unbilled_reasons;

test('a call that is too short says how many of how many seconds', async () => {
  const { buyer, offer } = await offerTo(pays({ name: 'One minute' }));
  const call = await talk(offer, 45);
  const { billing, said } = await read(call);
  expect(said).toEqual(['45 of 60 seconds']);
  expect(billing).toEqual({
    billed: false,
    reason: 'too_short',
    message: '45 of 60 seconds',
    conversions: [
      {
        buyer_conversion_id: expect.any(Number),
        name: 'One minute',
        reason: 'too_short',
        message: '45 of 60 seconds',
        duration: 60,
        answered_seconds: 45,
        filter: null,
      },
    ],
  });
  expect(await countReasons(`category=buyer&buyer_id=${buyer}`)).toEqual({ too_short: 1 });
});

test('of several conversions each says what it lacks, and the nearest is the reason', async () => {
  const { offer } = await offerTo(
    pays(
      { name: 'Long', duration: 300 },
      { name: 'West', duration: 30, token_values: ['state:in CA,NV'] },
      { name: 'Told', conversion_type: 'postback' },
    ),
  );
  const call = await talk(offer, 45, { tokens: { state: 'NY' } });
  const { billing, said } = await read(call);
  expect(said).toEqual([
    'Long: 45 of 300 seconds; West: state:in CA,NV is not met; Told: the buyer has not reported it',
  ]);
  expect(billing.reason).toBe('filter_unmet');
  expect(
    billing.conversions.map(({ reason, filter }: Record<string, unknown>) => [reason, filter]),
  ).toEqual([
    ['too_short', null],
    ['filter_unmet', 'state:in CA,NV'],
    ['not_reported', null],
  ]);
});

test('a caller who was paid for before is named, and a later conversion is not asked', async () => {
  const { offer } = await offerTo(
    pays({ name: 'First', duplicate_timeframe: 86_400 }, { name: 'Second' }),
  );
  await talk(offer, 90);
  const call = await talk(offer, 90);
  const { billing, said } = await read(call);
  expect(said).toEqual([
    'First: the buyer has paid for this caller within 86400 seconds; ' +
      'Second: a conversion before it applies',
  ]);
  expect(billing.reason).toBe('duplicate');
  expect(await countReasons()).toEqual({ duplicate: 1 });
});

test('during a call nothing is said; a call that is paid has no reason', async () => {
  const { offer } = await offerTo(pays({}));
  const call = await begin(offer);
  expect(await read(call)).toEqual({ billing: null, said: [] });
  await report(call, 'answered');
  later(30);
  await report(call, 'duration', { duration: 30 });
  expect(await read(call)).toEqual({ billing: null, said: [] });
  later(60);
  await report(call, 'completed', { duration: 90 });
  expect(await read(call)).toEqual({
    billing: { billed: true, reason: null, message: null, conversions: [] },
    said: [],
  });
  expect(await countReasons()).toEqual({});
});

test('a buyer without a conversion, and one that has not reported', async () => {
  const none = await offerTo({});
  const postback = await offerTo(pays({ conversion_type: 'postback' }));
  const first = await talk(none.offer, 600);
  const second = await talk(postback.offer, 600);
  expect((await read(first)).billing).toMatchObject({ reason: 'no_conversion', conversions: [] });
  expect((await read(second)).billing.reason).toBe('not_reported');
  await ok('post', `calls/${second.id}`, { buyer_converted: true });
  expect((await read(second)).billing).toMatchObject({ billed: true, reason: null });
  expect(await countReasons()).toEqual({ no_conversion: 1 });
});

test('what was paid and taken back is returned; a report that is a duplicate says so', async () => {
  const { offer } = await offerTo(pays({ conversion_type: 'postback', duplicate_timeframe: 600 }));
  const [first, second] = [await talk(offer, 10), await talk(offer, 10)];
  await ok('post', `calls/${first.id}`, { buyer_converted: true });
  await ok('post', `calls/${second.id}`, { buyer_converted: true });
  expect((await read(second)).billing.reason).toBe('duplicate');
  await ok('post', `calls/${first.id}`, { buyer_converted: false, adjustment_reason: 'wrong' });
  expect((await read(first)).billing).toMatchObject({ billed: false, reason: 'returned' });
  expect(await countReasons()).toEqual({ duplicate: 1, returned: 1 });
});

test('what is taken back during the call is said once, by its return', async () => {
  const { offer } = await offerTo(pays({ duration: 0 }));
  const call = await begin(offer);
  await report(call, 'answered');
  await ok('post', `calls/${call.id}`, { buyer_converted: false });
  later(90);
  await report(call, 'completed', { duration: 90 });
  const { billing, said } = await read(call);
  expect([billing.reason, said]).toEqual(['returned', []]);
  expect(await here.loadEvents(call)).toContain('conversion_returned');
});

test('a buyer that pays for being dialed and has paid before is told of once', async () => {
  const { offer } = await offerTo(pays({ duration: 0, duplicate_timeframe: 600 }));
  await talk(offer, 5);
  const call = await talk(offer, 5);
  const { billing, said } = await read(call);
  expect([billing.reason, said]).toEqual([
    'duplicate',
    ['the buyer has paid for this caller within 600 seconds'],
  ]);
});

test('a call without a buyer says what the buyers lacked', async () => {
  const capped = await here.buyer({ attempt_daily_limit: 1 });
  const paused = await here.buyer({ paused: true });
  const offer = await here.offer({ buyer_ids: [capped, paused] });
  await talk(offer, 10);
  const call = await begin(offer);
  expect((await read(call)).billing).toEqual({
    billed: false,
    reason: 'not_connected',
    message: 'no buyer took the call: 1 cap_reached, 1 paused',
    conversions: [],
  });
  const missed = await offerTo(pays({}));
  const ringing = await begin(missed.offer);
  await report(ringing, 'completed');
  expect((await read(ringing)).billing).toMatchObject({
    reason: 'not_connected',
    message: 'no buyer took the call',
  });
});

test('a lost call says that its end is missing, until a late end tells the seconds', async () => {
  const { offer } = await offerTo(pays({}));
  const call = await begin(offer);
  await report(call, 'answered');
  const nextDay = () => new Date(here.time.read().getTime() + 86_400_000);
  await endStaleCalls({ ...here.world.deps, clock: nextDay });
  const lost = await read(call);
  expect([lost.billing.reason, lost.said]).toEqual([
    'end_not_reported',
    ['asks for 60 seconds, and no event said how long the buyer talked'],
  ]);
  await report(call, 'completed', { duration: 45 });
  const ended = await read(call);
  expect([ended.billing.reason, ended.said.at(-1)]).toEqual(['too_short', '45 of 60 seconds']);
});

test('twenty ends of a call at once are one reason and one event', async () => {
  const { offer } = await offerTo(pays({}));
  const call = await begin(offer);
  await report(call, 'answered');
  later(45);
  await Promise.all(
    Array.from({ length: 20 }, () =>
      here.world.api('post', `call_sessions/${call.id}/events`, {
        body: { event: 'completed', duration: 45 },
      }),
    ),
  );
  expect((await read(call)).said).toEqual(['45 of 60 seconds']);
});

test('a publisher sees that a call of its own was not paid, but not why', async () => {
  const source = await here.world.create('traffic_sources', { name: 'Ads' });
  const { offer } = await offerTo(pays({}));
  const call = await talk(offer, 45, { traffic_source_id: source });
  const { api } = await createMember(here.world.company, 'ads@example.com', {
    traffic_source_ids: [source],
    permissions: ['calls:read'],
  });
  const decision = await api('get', `calls/${call.id}/decision`);
  const shown = await api('get', `calls/${call.id}`);
  expect([decision.status, decision.body.billing]).toEqual([200, null]);
  expect([shown.status, shown.body.call.unbilled_reason]).toEqual([200, null]);
  const events = (await api('get', `calls/${call.id}/events`)).text;
  const totals = (await api('get', 'calls/reports?category=day')).body.totals;
  expect([events.includes('not_converted'), totals.unbilled_reasons]).toEqual([false, null]);
});
