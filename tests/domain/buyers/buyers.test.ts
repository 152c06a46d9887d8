import { contract, facets } from '../../../src/platform/contract/contract';
import { buildBuyerRequests } from '../../support/buyers';
import { standingClock } from '../../support/clock';
import { ownNumber } from '../../support/leads';
import { createWorld, type World } from '../../support/world';

const clock = standingClock('2026-06-01T16:00:00Z'); // Monday noon in New York
let world: World;
beforeAll(async () => {
  world = await createWorld({ clock: clock.read });
});
afterAll(() => world.close());
beforeEach(() => clock.set('2026-06-01T16:00:00Z'));

const { create, createRecord, put, shown } = buildBuyerRequests(() => world);

test('an empty buyer has every default of the contract, and new shows the same', async () => {
  const buyer = await createRecord({});
  const blank = (await world.company.api('get', 'buyers/new')).body.buyer;
  for (const record of [buyer, blank]) {
    expect(record).toMatchObject({
      timeout_seconds: 120,
      tier: 1,
      weight: 1,
      time_zone: 'Eastern Time (US & Canada)',
      record_calls: false,
      route_by_type: 'tier',
      buyer_type: 'buyer',
      paused: false,
    });
  }
  expect(Object.keys(blank)).toEqual(Object.keys(buyer));
  expect(blank.id).toBe(null);
});

test('the columns of the record are those of the contract, in its order', async () => {
  const declared = Object.entries(facets(contract.document.components.schemas.Buyer!).properties);
  const plain = declared.filter(([, schema]) => !schema['x-grid']).map(([name]) => name);
  expect(Object.keys(await createRecord({}))).toEqual(plain);
});

test('what is written is read back, for every writable field', async () => {
  const body = {
    user_buyer_id: 'all-fields',
    number: 'sip:desk@example.com',
    name: 'All',
    email: 'desk@example.com',
    external_record_id: 'x1',
    buyer_type: 'rtb',
    bid_request: {
      url: 'https://bids.example.com/?zip={{zip}}',
      method: 'put',
      headers: { 'X-Api-Key': 'k' },
      body: '{}',
    },
    bid_response: {
      accept: '$.ok',
      bid: '=~bid ([0-9.]+)',
      number: 'to',
      duration: 's',
      expires_in: 't',
    },
    timeout_seconds: 12,
    dtmf_tones: '1wW#',
    sip_headers: { 'X-Campaign': '{{campaign}}' },
    time_zone: 'Asia/Tokyo',
    paused: true,
    record_calls: true,
    press_one_to_accept: true,
    ping_timeout_seconds: 0.25,
    route_by_type: 'epc',
    states: ['CA', 'QC'],
    area_codes: ['415', '628'],
    tier: -2.5,
    weight: 0,
    epc_timeframe: 24,
    epc_assumed_amount: 9.99,
    epc_assumed_calls_count: 10,
    display_caller_id_type: 'display_fake_caller_id',
    concurrency_cap_limit: 4,
    attempt_total_limit: 1,
    attempt_monthly_limit: 2,
    attempt_daily_limit: 3,
    connection_total_limit: 4,
    connection_monthly_limit: 5,
    connection_daily_limit: 6,
    buyer_conversion_total_limit: 7,
    buyer_conversion_monthly_limit: 8,
    buyer_conversion_daily_limit: 9,
    revenue_total_limit: 10.5,
    revenue_monthly_limit: 11,
    revenue_daily_limit: 12,
    earned_revenue_total_limit: 13,
    earned_revenue_monthly_limit: 14,
    earned_revenue_daily_limit: 15.25,
    prepaid: true,
    credit_limit: 250.5,
    balance_low_limit: 100,
    business_hours_schedule: [
      {
        attempt_hourly_limit: 5,
        revenue_hourly_limit: 100,
        schedule: [{ day: 1, times: ['09:00..11:59', '13:00..17:59'] }],
      },
    ],
    buyer_conversions_schedule: [
      {
        buyer_conversions_attributes: [
          {
            name: 'Long',
            conversion_type: 'postback',
            duration: 120,
            revenue: 40,
            revenue_min: 10,
            revenue_max: 50,
            revenue_increment: 5,
            duplicate_timeframe: 7200,
            token_values: ['state:CA'],
            attribution_token_values: ['paid:yes'],
          },
        ],
        schedule: [{ day: 0, times: ['00:00..23:59'] }],
      },
    ],
  };
  const lists = await Promise.all(
    ['a', 'b'].map((name) => world.company.api('post', 'buyer_suppressions', { body: { name } })),
  );
  const buyerSuppressionIds = lists.map((list) => list.body.buyer_suppression.id).sort();
  Object.assign(body, {
    buyer_suppression_ids: buyerSuppressionIds,
    display_service_number_id: await ownNumber(world, world.company),
    zip_list_id: (await world.company.api('post', 'zip_lists', { body: { name: 'Zips' } })).body
      .zip_list.id,
  });
  const res = await create(body);
  expect(res.body.errors).toEqual({});
  expect(res.body.buyer).toMatchObject(body);
  expect(await shown(res.body.buyer.id)).toMatchObject(body);
  // Teams are read back by themselves.
  const teams = ['generate_team', 'team_users_emails', 'team_offer_ids'];
  const special = [
    'serializer',
    'buyer_fleet_id',
    'record_token_filter_list',
    'record_token_additional_list',
    'reset_bid_secret',
    ...teams,
  ];
  const writable = Object.keys(
    facets(contract.document.components.schemas.BuyerFields!).properties,
  ).filter((name) => !name.startsWith('current_conversion_') && !special.includes(name));
  expect(writable.filter((name) => !(name in body))).toEqual([]);
});

test('token lists are read back with their counts and numbers', async () => {
  const buyer = await createRecord({
    record_token_filter_list: ['state:in CA,NV', 'age:>=18', 'zip:=~^9'],
    record_token_additional_list: 'source:web,campaign:a',
  });
  expect(buyer).toMatchObject({
    record_token_filter_data: ['state:in CA,NV', 'age:>=18', 'zip:=~^9'],
    record_token_filter_data_count: 3,
    record_token_filter_id: buyer.id,
    record_token_additional_data: ['source:web', 'campaign:a'],
    record_token_additional_data_count: 2,
    record_token_additional_id: buyer.id,
  });
});

describe('by_user_buyer_id', () => {
  test('finds the buyer by its owner’s identifier, whatever that looks like', async () => {
    for (const userBuyerId of ['plain', 'with space/and slash', '12', 'ünï', 'new']) {
      const { id } = await createRecord({ user_buyer_id: userBuyerId });
      const res = await world.company.api(
        'get',
        `buyers/${encodeURIComponent(userBuyerId)}/by_user_buyer_id`,
      );
      expect([res.status, res.body.buyer?.id]).toEqual([200, id]);
    }
  });
  test('is unique among the living, and free again after a delete', async () => {
    const { id } = await createRecord({ user_buyer_id: 'again' });
    expect((await create({ user_buyer_id: 'again' })).body.errors).toEqual({
      user_buyer_id: [expect.stringContaining('unique')],
    });
    await world.company.api('delete', `buyers/${id}`);
    expect((await create({ user_buyer_id: 'again' })).status).toBe(201);
  });
});

describe('copy_another_buyer', () => {
  test('takes the settings, not the identity; the request’s own fields win', async () => {
    const source = await createRecord({
      name: 'Source',
      user_buyer_id: 'source',
      timeout_seconds: 33,
      tier: 4,
      attempt_daily_limit: 8,
      record_token_filter_list: ['a:b'],
      business_hours_schedule: [
        { attempt_hourly_limit: 2, schedule: [{ day: 1, times: ['00:00..23:59'] }] },
      ],
      current_conversion_revenue: 12,
      current_conversion_duration: 45,
    });
    const copy = await createRecord({ copy_another_buyer: source.uuid, name: 'Copy', tier: 5 });
    expect(copy).toMatchObject({
      name: 'Copy',
      tier: 5,
      user_buyer_id: null,
      timeout_seconds: 33,
      attempt_daily_limit: 8,
      record_token_filter_data: ['a:b'],
      business_hours_schedule: source.business_hours_schedule,
      buyer_conversions_schedule: source.buyer_conversions_schedule,
      attempt_hourly_limit: 2,
    });
    expect(copy.id).not.toBe(source.id);
    for (const none of [-1, 'no-such', 999_999])
      expect(Object.keys((await create({ copy_another_buyer: none })).body.errors)).toEqual([
        'copy_another_buyer',
      ]);
  });
});

test('pausing records when and who did it; pausing again changes neither', async () => {
  const token = await world.credentials(world.company, ['buyers:update'], {
    kind: 'user_token',
    user_email: 'ann@example.com',
  });
  const { id } = await createRecord({});
  const grid = async () =>
    (await world.company.api('get', `buyers/${id}?serializer=buyer_grid`)).body.buyer;
  const byToken = (body: object) =>
    world.company.api('put', `buyers/${id}?auth_token=${token}`, { body, auth: null });
  expect((await byToken({ paused: 'yes' })).status).toBe(200);
  const first = await grid();
  expect([first.paused, typeof first.paused_by_user_id]).toEqual([true, 'number']);
  await put(id, { paused: true });
  expect((await grid()).paused_by_user_id).toBe(first.paused_by_user_id);
  await put(id, { paused: false });
  expect(await grid()).toMatchObject({ paused: false, paused_by_user_id: null });
});

test('a deleted buyer is gone from lists, shows, groups and fleets', async () => {
  const fleet = (
    await world.company.api('post', 'buyer_fleets', { body: { name: 'F', user_fleet_id: 'f' } })
  ).body.buyer_fleet;
  const { id } = await createRecord({ name: 'Doomed', buyer_fleet_id: fleet.id });
  const group = (
    await world.company.api('post', 'buyer_groups', { body: { name: 'G', buyer_ids: [id] } })
  ).body.buyer_group;
  expect(
    (await world.company.api('get', `buyer_fleets/${fleet.id}`)).body.buyer_fleet,
  ).toMatchObject({ buyers_count: 1, buyer_ids: [id] });
  expect((await shown(id)).buyer_group_names).toEqual(['G']);
  const deletion = await world.company.api('delete', `buyers/${id}`);
  expect(deletion.body.buyer.deleted_at).not.toBe(null);
  expect((await world.company.api('get', `buyers/${id}`)).status).toBe(404);
  expect((await world.company.api('delete', `buyers/${id}`)).status).toBe(404);
  expect((await world.company.api('get', 'buyers?fulltext=doomed')).body.metadata.total_count).toBe(
    0,
  );
  expect(
    (await world.company.api('get', `buyer_fleets/${fleet.id}`)).body.buyer_fleet,
  ).toMatchObject({ buyers_count: 0, buyer_ids: [] });
  expect(
    (await world.company.api('get', `buyer_groups/${group.id}`)).body.buyer_group.buyer_ids,
  ).toEqual([]);
});

test('the checksum changes with the record and guards a change', async () => {
  const first = await create({ name: 'A' });
  const { id } = first.body.buyer;
  const second = await put(id, { name: 'B' });
  expect(second.body.checksum).not.toBe(first.body.checksum);
  const stale = await world.company.api('put', `buyers/${id}`, {
    body: { name: 'C' },
    headers: { 'If-Match': first.headers.etag! },
  });
  const fresh = await world.company.api('put', `buyers/${id}`, {
    body: { name: 'C' },
    headers: { 'If-Match': second.headers.etag! },
  });
  expect([stale.status, fresh.status, (await shown(id)).name]).toEqual([412, 200, 'C']);
});

test('a closed buyer says when it opens again, in its zone, and an open one nothing', async () => {
  const weekdays = (times: string) => [
    { schedule: [1, 2, 3, 4, 5].map((day) => ({ day, times: [times] })) },
  ];
  const hours = async (schedule: object[], zone = 'America/New_York') => {
    const fields = { time_zone: zone, business_hours_schedule: schedule };
    const { id } = await createRecord(fields);
    const { closed, opens_at } = (await world.company.api('get', `buyers/${id}`)).body.buyer;
    return { closed, opens_at };
  };
  const open = { closed: false, opens_at: null };
  expect(await hours([])).toEqual(open);
  expect(await hours(weekdays('09:00..16:59'))).toEqual(open);
  expect(await hours(weekdays('13:00..16:59'))).toEqual({
    closed: true,
    opens_at: '2026-06-01T17:00:00.000+00:00',
  });
  expect(await hours(weekdays('13:00..16:59'), 'America/Los_Angeles')).toMatchObject({
    opens_at: '2026-06-01T20:00:00.000+00:00',
  });
  expect(await hours([{ schedule: [{ day: 1, times: [] }] }])).toEqual({
    closed: true,
    opens_at: null,
  });
  clock.set('2026-06-06T16:00:00Z');
  // The entry that opens first counts.
  const entries = [
    ...weekdays('09:00..16:59'),
    { schedule: [{ day: 0, times: ['10:30..12:00'] }] },
  ];
  expect(await hours(entries)).toMatchObject({ opens_at: '2026-06-07T14:30:00.000+00:00' });
});
