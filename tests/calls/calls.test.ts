import { contract } from '../../src/contract';
import { listTemplate } from '../../src/db/projection';
import { callProjection } from '../../src/calls/columns';
import { callsOf, type CallFields } from '../support/calls';
import { standingClock } from '../support/clock';
import { ownNumber } from '../support/leads';
import { createWorld, type Company, type World } from '../support/world';

const NOW = '2027-01-12T17:00:00.000Z';
let world: World;
let company: Company;
const time = standingClock(NOW);
const ids: Record<string, number> = {};
const made: Record<string, { id: number; uuid: string }> = {};

const api = (path: string, query: object = {}, by = company) => by.api('get', path, { query });
const insert = async (name: string, fields: CallFields) =>
  (made[name] = await callsOf(world, company).call(fields));
const nameOf = (id: number) => Object.entries(made).find(([, call]) => call.id === id)?.[0];
/** The names of the calls that a query selects, in its order; what it counts is the same. */
async function listed(query: object): Promise<string> {
  const res = await api('calls', { ...query, columns: 'id' });
  expect([query, res.status]).toEqual([query, 200]);
  expect(res.body.metadata.total_count).toBe(res.body.calls.length);
  return res.body.calls.map(({ id }: { id: number }) => nameOf(id)).join(' ');
}
const call = async (name: string, query: object = {}) =>
  (await api(`calls/${made[name]!.id}`, query)).body.call;

const LIVE = { created_at: '2027-01-12T16:58:00Z', status: 'in_progress' };

beforeAll(async () => {
  world = await createWorld({ clock: time.read });
  ({ company } = world);
  const make = async (path: string, root: string, body: object) =>
    (await company.api('post', path, { body })).body[root].id as number;
  ids.offer = await make('offers', 'offer', { name: 'Auto', user_offer_id: 'auto' });
  ids.other_offer = await make('offers', 'offer', { name: 'Home' });
  ids.buyer = await make('buyers', 'buyer', {
    name: 'Acme',
    user_buyer_id: 'acme',
    number: '+13105550111',
  });
  ids.other_buyer = await make('buyers', 'buyer', { name: 'Bayline', number: '+13105550112' });
  ids.source = await make('traffic_sources', 'traffic_source', {
    name: 'Search',
    user_traffic_source_id: 'search',
  });
  ids.schedule = await make('schedules', 'schedule', { name: 'Follow up', offer_id: ids.offer });
  ids.number = await ownNumber(world, company);
  ids.lead = await make('leads/capture', 'lead', {
    caller_id: '+13105550123',
    offer_id: ids.offer,
  });
  await insert('plain', {
    created_at: '2027-01-10T12:00:00Z',
    ended_at: '2027-01-10T12:01:00Z',
    caller_number: 13105550001,
  });
  await insert('sold', {
    created_at: '2027-01-11T12:00:00Z',
    answered_at: '2027-01-11T12:00:10Z',
    connected_at: '2027-01-11T12:00:14.9Z',
    ended_at: '2027-01-11T12:02:00Z',
    caller_number: 13105550002,
    offer_id: ids.offer,
    buyer_id: ids.buyer,
    traffic_source_id: ids.source,
    number_id: ids.number,
    buyer_converted: true,
    traffic_source_converted: true,
    buyer_revenue: 20,
    revenue: 20,
    payout: 5.5,
    recording_url: 'https://example.com/1.mp3',
    connect_to: '+13105550111',
    carrier_call_id: 'CA1',
    sub_id: 'google',
    provider_cost: 0.0125,
    caller_city: 'Los Angeles',
    caller_country: 'US',
    token_values: JSON.stringify({
      first_name: 'Ann',
      last_name: 'Lee',
      state: 'CA',
      age: 42,
      veteran: true,
    }),
    hangup_cause: 'caller',
    contact_field_type: 'phone',
  });
  await insert('paid', {
    created_at: '2027-01-11T13:00:00Z',
    ended_at: '2027-01-11T13:00:05Z',
    offer_id: ids.other_offer,
    buyer_id: ids.other_buyer,
    traffic_source_converted: true,
    payout: 1,
    token_values: '{"state":"NY"}',
  });
  await insert('bought', {
    created_at: '2027-01-11T14:00:00Z',
    ended_at: '2027-01-11T14:00:05Z',
    offer_id: ids.offer,
    buyer_id: ids.other_buyer,
    buyer_converted: true,
    revenue: 7,
  });
  await insert('ringing', {
    ...LIVE,
    caller_number: null,
    from_number: null,
    offer_id: ids.offer,
    buyer_id: ids.buyer,
  });
  await insert('out', {
    ...LIVE,
    direction: 'outbound',
    from_number: 12125550100,
    to_number: 13105550123,
    caller_number: 13105550123,
    lead_id: ids.lead,
    schedule_id: ids.schedule,
    offer_id: ids.offer,
    buyer_id: ids.buyer,
    answered_at: '2027-01-12T16:58:20Z',
    connected_at: '2027-01-12T16:59:00Z',
    number_id: ids.number,
    carrier: 'twilio',
  });
  await insert('failed', {
    created_at: '2027-01-12T16:59:00Z',
    ended_at: '2027-01-12T16:59:00Z',
    status: 'failed',
    error_code: 'unreachable',
    error_message: 'no way',
    total_duration: 0,
    fallback: 'message',
  });
  await insert('gone', {
    deleted_at: NOW,
    caller_number: 13105550001,
    offer_id: ids.offer,
    buyer_id: ids.buyer,
  });
});
afterAll(() => world.close());

describe('filters select exactly what they say', () => {
  const ALL = 'plain sold paid bought ringing out failed';
  const but = (names: string) =>
    ALL.split(' ')
      .filter((name) => !names.split(' ').includes(name))
      .join(' ');
  test.each<[string, () => object, string]>([
    ['nothing asked', () => ({}), ALL],
    ['offer_id', () => ({ offer_id: ids.offer }), 'sold bought ringing out'],
    ['buyer_id', () => ({ buyer_id: ids.buyer }), 'sold ringing out'],
    ['traffic_source_id', () => ({ traffic_source_id: ids.source }), 'sold'],
    ['schedule_id', () => ({ schedule_id: ids.schedule }), 'out'],
    ['number_id', () => ({ number_id: ids.number }), 'sold out'],
    ['lead_id', () => ({ lead_id: ids.lead }), 'out'],
    ['an id of nothing', () => ({ buyer_id: 999_999 }), ''],
    ['a uuid of nothing', () => ({ offer_id: '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001' }), ''],
    ['caller_number, in any spelling', () => ({ caller_number: '(310) 555-0002' }), 'sold'],
    [
      'caller_number of the person who was called',
      () => ({ caller_number: '+13105550123' }),
      'out',
    ],
    ['status', () => ({ status: 'failed' }), 'failed'],
    ['category', () => ({ category: 'outbound' }), 'out'],
    ['the other category', () => ({ category: 'inbound' }), but('out')],
    ['buyer_converted', () => ({ buyer_converted: true }), 'sold bought'],
    ['not buyer_converted', () => ({ buyer_converted: 'no' }), but('sold bought')],
    ['offer_converted', () => ({ offer_converted: 1 }), 'sold paid'],
    ['not offer_converted', () => ({ offer_converted: false }), but('sold paid')],
    ['either_converted', () => ({ either_converted: 'yes' }), 'sold paid bought'],
    ['neither converted', () => ({ either_converted: 'off' }), but('sold paid bought')],
    ['in_progress', () => ({ in_progress: true }), 'ringing out'],
    ['not in_progress', () => ({ in_progress: false }), but('ringing out')],
    ['has_recording', () => ({ has_recording: true }), 'sold'],
    ['not has_recording', () => ({ has_recording: false }), but('sold')],
    ['no_buyer', () => ({ no_buyer: true }), 'plain failed'],
    ['not no_buyer', () => ({ no_buyer: false }), but('plain failed')],
    ['token_key', () => ({ token_key: 'state' }), 'sold paid'],
    ['token_key and token_value', () => ({ token_key: 'state', token_value: 'NY' }), 'paid'],
    ['a token of another value', () => ({ token_key: 'state', token_value: 'ny' }), ''],
    ['a token that is a number in JSON', () => ({ token_key: 'age', token_value: '42' }), 'sold'],
    [
      'a token that is a boolean in JSON',
      () => ({ token_key: 'veteran', token_value: 'true' }),
      'sold',
    ],
    ['a token of no call', () => ({ token_key: '__proto__', token_value: 'x' }), ''],
    ['ended_at_from', () => ({ ended_at_from: '2027-01-11T13:00:05Z' }), 'paid bought failed'],
    ['ended_at_to', () => ({ ended_at_to: '2027-01-11T13:00:05Z' }), 'plain sold paid'],
    [
      'both ends, in a zone',
      () => ({
        ended_at_from: '2027-01-11 04:02',
        ended_at_to: '2027-01-11 05:00',
        time_zone: 'America/Los_Angeles',
      }),
      'sold',
    ],
    [
      'created_at_from and _to',
      () => ({ created_at_from: '2027-01-11T13:00:00Z', created_at_to: '2027-01-12' }),
      'paid bought',
    ],
    ['ids', () => ({ ids: `${made.paid!.id},${made.out!.uuid},${made.gone!.id}` }), 'paid out'],
    ['fulltext of a number', () => ({ fulltext: '5550002' }), 'sold'],
    ['fulltext of a sub id, in any case', () => ({ fulltext: 'GOOG' }), 'sold'],
    ['fulltext of the carrier’s identifier', () => ({ fulltext: 'ca1' }), 'sold'],
    [
      'several together',
      () => ({
        offer_id: ids.offer,
        in_progress: false,
        buyer_converted: true,
        has_recording: false,
      }),
      'bought',
    ],
    ['several that no call meets', () => ({ offer_id: ids.other_offer, buyer_id: ids.buyer }), ''],
    [
      'everything of one call',
      () => ({
        offer_id: ids.offer,
        buyer_id: ids.buyer,
        traffic_source_id: ids.source,
        number_id: ids.number,
        category: 'inbound',
        status: 'completed',
        token_key: 'state',
        token_value: 'CA',
      }),
      'sold',
    ],
  ])('%s', async (_name, query, names) => expect(await listed(query())).toBe(names));

  test('records can be named by uuid as by number', async () => {
    const uuidOf = async (path: string, root: string, id: number) =>
      (await api(`${path}/${id}`)).body[root].uuid;
    expect(await listed({ offer_id: await uuidOf('offers', 'offer', ids.other_offer!) })).toBe(
      'paid',
    );
    expect(await listed({ buyer_id: await uuidOf('buyers', 'buyer', ids.other_buyer!) })).toBe(
      'paid bought',
    );
    expect(await listed({ lead_id: await uuidOf('leads', 'lead', ids.lead!) })).toBe('out');
  });

  test.each([
    [{ token_value: 'CA' }, 'token_key'],
    [{ caller_number: 'call me' }, 'caller_number'],
    [{ status: 'nonsense' }, 'status'],
    [{ category: 'sideways' }, 'category'],
    [{ order: 'shoe_size' }, 'order'],
  ])('%p is refused by name', async (query, field) => {
    const res = await api('calls', query);
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, [field]]);
  });
});

describe('orders and cursors', () => {
  const orders = ['id', 'created_at', 'ended_at', 'total_duration', 'revenue', 'payout', 'status'];
  test.each(orders.flatMap((order) => ['asc', 'desc'].map((dir) => [order, dir])))(
    'by %s %s go through all, each once and as one page does',
    async (order, dir) => {
      const whole = (await listed({ order, order_dir: dir, per_page: 100 })).split(' ');
      const seen: (string | undefined)[] = [];
      let cursor: string | number = -1;
      for (let turns = 0; turns < 10 && cursor !== 0; turns++) {
        const { body } = await api('calls', { order, order_dir: dir, per_page: 2, cursor });
        seen.push(...body.calls.map(({ id }: { id: number }) => nameOf(id)));
        cursor = body.metadata.next_cursor;
      }
      expect([cursor, seen]).toEqual([0, whole]);
      expect(whole.toSorted()).toEqual('bought failed out paid plain ringing sold'.split(' '));
    },
  );

  test('those in progress end last', async () => {
    expect(await listed({ order: 'ended_at' })).toBe('plain sold paid bought failed ringing out');
    expect(await listed({ order: 'revenue', order_dir: 'desc', in_progress: false })).toBe(
      'sold bought failed paid plain',
    );
  });
});

describe('columns', () => {
  const NAMES = Object.entries(contract.document.components.schemas.Call!.properties!).flatMap(
    ([name, schema]) => (schema['x-grid'] ? [] : name),
  );

  test('are all there, in the order of the contract, in lists, one by one and as CSV', async () => {
    const { calls } = (await api('calls')).body;
    for (const each of calls) expect(Object.keys(each)).toEqual(NAMES);
    expect(Object.keys(await call('plain'))).toEqual(NAMES);
    expect(Object.keys(await call('plain', { serializer: 'call_grid' }))).toEqual([
      ...NAMES,
      'schedule_action_id',
    ]);
    expect((await api('calls.csv')).text.split('\n')[0]).toBe(NAMES.join(','));
    expect(NAMES.slice(-9)).toEqual([
      'hangup_cause',
      'lead_id',
      'answered_at',
      'connected_at',
      'fallback',
      'attempts_count',
      'error_code',
      'error_message',
      'sandbox',
    ]);
  });

  test('tell of a call that was sold', async () => {
    expect(await call('sold')).toMatchObject({
      type: 'Call',
      routes_show_path: `/api/v1/calls/${made.sold!.id}`,
      routes_edit_path: null,
      name: 'Ann Lee',
      category: 'inbound',
      number_called: '+12125550100',
      connected_to: '+13105550111',
      caller_number: '+13105550002',
      obfuscated_caller_number: '*******0002',
      offer: 'Auto',
      user_offer_id: 'auto',
      offer_id: ids.offer,
      buyer: 'Acme',
      user_buyer_id: 'acme',
      buyer_id: ids.buyer,
      traffic_source: 'Search',
      user_traffic_source_id: 'search',
      traffic_source_id: ids.source,
      number_id: ids.number,
      caller_city: 'Los Angeles',
      caller_country: 'US',
      sub_id: 'google',
      total_duration: 120,
      hold_duration: 14,
      ivr_duration: 4,
      attempted_duration: 10,
      answered_duration: 110,
      agent_duration: 0,
      status: 'completed',
      buyer_converted: true,
      buyer_revenue: 20,
      revenue: 20,
      traffic_source_converted: true,
      traffic_source_payout: 5.5,
      payout: 5.5,
      service_cost: 0,
      provider_cost: 0.0125,
      call_sid: 'CA1',
      provider: 'sandbox',
      outgoing_webhooks_count: 0,
      ended_at: '2027-01-11T12:02:00.000+00:00',
      hangup_cause: 'caller',
      contact_field_type: 'phone',
      attempts_count: 0,
      error_code: null,
      sandbox: true,
      recording_url: 'https://example.com/1.mp3',
      agent_id: null,
      quality_assurance_id: null,
      disposition_id: null,
      ring_pool_id: null,
      lead_id: null,
      schedule_id: null,
      schedule_name: null,
    });
  });

  test('of a call in progress count up to now', async () => {
    expect(await call('out')).toMatchObject({
      category: 'outbound',
      number_called: '+12125550100',
      caller_number: '+13105550123',
      schedule_name: 'Follow up',
      lead_id: ids.lead,
      sandbox: false,
      ended_at: null,
      total_duration: 120,
      hold_duration: 40,
      ivr_duration: 0,
      attempted_duration: 20,
      answered_duration: 100,
    });
    const withheld = { caller_number: null, obfuscated_caller_number: null, name: null };
    expect(await call('ringing')).toMatchObject({
      ...withheld,
      total_duration: 120,
      hold_duration: 120,
      attempted_duration: 120,
      ivr_duration: 0,
      answered_duration: 0,
    });
    time.set('2027-01-12T17:00:30.500Z');
    expect(await call('ringing')).toMatchObject({
      total_duration: 150,
      attempted_duration: 150,
      answered_duration: 0,
    });
    time.set(NOW);
    const nothing = {
      total_duration: 0,
      hold_duration: 0,
      ivr_duration: 0,
      attempted_duration: 0,
      answered_duration: 0,
    };
    expect(await call('failed')).toMatchObject({
      ...nothing,
      error_code: 'unreachable',
      error_message: 'no way',
      fallback: 'message',
      buyer: null,
      offer: null,
    });
  });

  test('only those asked for are read: names of others by joins that are made for them', async () => {
    const shape = {
      conditions: [],
      sort: 'id' as const,
      descending: false,
      limit: 2,
      offset: 0,
      total: 'none' as const,
    };
    const sql = (columns: string[]) =>
      listTemplate(callProjection, { ...shape, columns })({ company_id: 1, now: '' }).text;
    expect(sql(['id', 'offer_id', 'status'])).not.toMatch(
      /JOIN (offers|buyers|traffic_sources|schedules)|call_attempts/,
    );
    expect(sql(['offer'])).toMatch(/JOIN offers/);
    expect(sql(['offer'])).not.toMatch(/JOIN (buyers|traffic_sources|schedules)/);
    expect(sql(['user_buyer_id'])).toMatch(/JOIN buyers/);
  });
});

test('CSV has the whole result of the filters, and no cell runs as a formula', async () => {
  const risky = await world.addCompany();
  const calls = callsOf(world, risky);
  await calls.call({ sub_id: '=1+1', token_values: '{"name":"@SUM(A1)"}' });
  await calls.call({ sub_id: 'plain', buyer_converted: true });
  const csv = await api(
    'calls.csv',
    { columns: 'caller_number,sub_id,name,buyer_converted' },
    risky,
  );
  expect(csv.headers['content-disposition']).toContain('calls.csv');
  expect(csv.text.split('\n')).toEqual([
    'name,caller_number,sub_id,buyer_converted',
    "'@SUM(A1),+13105550199,'=1+1,false",
    ',+13105550199,plain,true',
    '',
  ]);
  expect(
    (await api('calls', { format: 'csv', buyer_converted: true, columns: 'sub_id' }, risky)).text,
  ).toBe('sub_id\nplain\n');
});

describe('one call', () => {
  test('is shown by number and uuid, in a zone, and not again while it is unchanged', async () => {
    const { id, uuid } = made.sold!;
    const first = await api(`calls/${id}`);
    expect((await api(`calls/${uuid}`)).body).toEqual(first.body);
    expect(first.headers.etag).toBe(`"${first.body.checksum}"`);
    expect(
      (
        await company.api('get', `calls/${id}`, {
          headers: { 'If-None-Match': first.headers.etag! },
        })
      ).status,
    ).toBe(304);
    expect(
      (await api('calls', { ids: id, time_zone: 'America/New_York' })).body.calls[0].ended_at,
    ).toBe('2027-01-11T07:02:00.000-05:00');
  });

  test('is not there for another company, nor once it is deleted, and neither is what happened in it', async () => {
    const other = await world.addCompany();
    for (const [name, by] of [
      ['sold', other],
      ['gone', company],
    ] as const) {
      for (const reference of [made[name]!.id, made[name]!.uuid])
        for (const part of ['', '/events', '/attempts'])
          expect([part, (await api(`calls/${reference}${part}`, {}, by)).status]).toEqual([
            part,
            404,
          ]);
    }
    expect((await api('calls', {}, other)).body).toMatchObject({
      calls: [],
      metadata: { total_count: 0 },
    });
  });

  test('tells what happened in it and whom it was tried with, in order and by pages', async () => {
    const { id, uuid } = await callsOf(world, company).call({
      buyer_id: ids.buyer,
      answered_at: LIVE.created_at,
      ended_at: NOW,
      direction: 'outbound',
    });
    const calls = callsOf(world, company);
    await calls.attempt(id, ids.other_buyer!, { status: 'no_answer', round: 1 });
    await calls.attempt(id, ids.buyer!, {
      status: 'completed',
      round: 2,
      answered_at: '2027-01-12T16:58:10Z',
      connected_at: '2027-01-12T16:58:13Z',
      ended_at: NOW,
    });
    for (const event of ['ringing', 'no_answer', 'connected'])
      await calls.event(id, event, event === 'connected' ? ids.buyer : undefined);
    const { body } = await api(`calls/${uuid}/attempts`);
    expect(body).toMatchObject({
      metadata: { root: 'call_attempts', total_count: 2, next_cursor: 0 },
    });
    expect(body.call_attempts).toMatchObject([
      { call_id: id, buyer: 'Bayline', status: 'no_answer', round: 1, buyer_group_id: null },
      {
        buyer: 'Acme',
        buyer_id: ids.buyer,
        round: 2,
        timeout_seconds: 30,
        connected_at: '2027-01-12T16:58:13.000+00:00',
      },
    ]);
    const events = (await api(`calls/${id}/events`)).body.call_events;
    expect(events.map(({ event, buyer }: Record<string, unknown>) => [event, buyer])).toEqual([
      ['ringing', null],
      ['no_answer', null],
      ['connected', 'Acme'],
    ]);
    expect(Object.keys(events[0])).toEqual([
      'id',
      'created_at',
      'call_id',
      'event',
      'message',
      'buyer_id',
      'buyer',
      'details',
    ]);
    const page = (
      await api(`calls/${id}/events`, { per_page: 2, cursor: -1, columns: 'event,nonsense' })
    ).body;
    expect([page.call_events, page.metadata.unknown_columns]).toEqual([
      [{ event: 'ringing' }, { event: 'no_answer' }],
      ['nonsense'],
    ]);
    expect(
      (
        await api(`calls/${id}/events`, {
          cursor: page.metadata.next_cursor,
          root: false,
          columns: 'event',
        })
      ).body,
    ).toEqual([{ event: 'connected' }]);
    expect(
      (await api(`calls/${id}/attempts.json`, { columns: 'status', root: 'no' })).body,
    ).toEqual([{ status: 'no_answer' }, { status: 'completed' }]);
    expect((await api(`calls/${id}`)).body.call).toMatchObject({
      attempts_count: 2,
      ivr_duration: 3,
    });
    expect((await api(`calls/${made.sold!.id}/events`)).body).toMatchObject({
      call_events: [],
      metadata: { total_count: 0 },
    });
  });
});
