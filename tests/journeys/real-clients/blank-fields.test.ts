import { buildBuyerRequests } from '../../support/buyers';
import { softswitch } from '../../support/softswitch';

// Forms send every field, also those that were not filled in: blank fields create nothing.

const here = softswitch('2026-06-01T16:00:00Z'); // Monday
const { ok, begin, offer } = here;
const { create, createRecord, put, shown } = buildBuyerRequests(() => here.world);

const BLANK = {
  current_conversion_name: '',
  current_conversion_revenue: '',
  current_conversion_revenue_min: '',
  current_conversion_revenue_max: '',
  current_conversion_revenue_increment: '',
  current_conversion_duration: '',
  current_conversion_duplicate_timeframe: '',
  current_conversion_token_values: '',
  current_conversion_attribution_token_values: '',
};

test.each([
  ['token values', { current_conversion_token_values: '' }],
  ['fields', BLANK],
  ['fields (null)', Object.fromEntries(Object.keys(BLANK).map((name) => [name, null]))],
  ['lists ([])', { current_conversion_token_values: [] }],
  ['time frames', { buyer_conversions_schedule: '' }],
  [
    'entries of time frames',
    {
      buyer_conversions_schedule: [
        { schedule: [], buyer_conversions_attributes: [{}, { name: '', token_values: '' }] },
      ],
    },
  ],
])('blank %s of conversions make none, on a new buyer and on a stored one', async (_, fields) => {
  const res = await create(fields);
  expect([res.status, res.body.errors]).toEqual([201, {}]);
  const none = {
    current_conversion_revenue: null,
    bid_price: null,
    buyer_conversions_schedule: [],
  };
  expect(res.body.buyer).toMatchObject(none);
  const { id } = await createRecord({});
  expect((await put(id, fields)).status).toBe(200);
  expect(await shown(id)).toMatchObject(none);
});

test('a call that a buyer with blank conversion fields does not answer is not converted', async () => {
  const { id } = await createRecord({ number: '+12125550101', ...BLANK });
  const call = await begin(await offer({ buyer_ids: [id] }));
  expect((await ok('get', `calls/${call.id}`)).call).toMatchObject({
    buyer_id: id,
    buyer_converted: false,
    revenue: 0,
  });
});

test('blank fields leave the amounts of a conversion as they are', async () => {
  const { id } = await createRecord({
    current_conversion_revenue: 20,
    current_conversion_duration: 90,
    current_conversion_duplicate_timeframe: 60,
    current_conversion_name: 'sale',
  });
  await put(id, BLANK);
  expect(await shown(id)).toMatchObject({
    current_conversion_revenue: 20,
    current_conversion_duration: 90,
    current_conversion_duplicate_timeframe: 60,
    current_conversion_name: null,
  });
});

const DURATION = ['needs current_conversion_duration: after how many seconds a call pays; 0 when'];

test.each([
  ['current_conversion_revenue', { current_conversion_revenue: 25 }],
  ['current_conversion_revenue', { ...BLANK, current_conversion_revenue: '25.00' }],
  ['current_conversion_token_values', { current_conversion_token_values: ['state:CA'] }],
  ['current_conversion_revenue_min', { current_conversion_revenue_min: 5 }],
])('%s without a duration bills no call: 422 names the duration', async (field, fields) => {
  const expected = { [field]: [expect.stringContaining(DURATION[0]!)] };
  expect((await create(fields)).body.errors).toEqual(expected);
  const { id } = await createRecord({});
  const res = await put(id, fields);
  expect([res.status, res.body.errors]).toEqual([422, expected]);
  expect((await shown(id)).buyer_conversions_schedule).toEqual([]);
});

test('a revenue with a duration is a conversion, and is changed alone afterwards', async () => {
  const { id } = await createRecord({
    current_conversion_revenue: 25,
    current_conversion_duration: 0,
  });
  expect((await put(id, { current_conversion_revenue: 30 })).body.buyer).toMatchObject({
    current_conversion_revenue: 30,
    current_conversion_duration: 0,
  });
});

test('a revenue in a time frame needs a duration too, unless the buyer reports its sales', async () => {
  const framed = (conversion: object) => ({
    buyer_conversions_schedule: [{ schedule: [], buyer_conversions_attributes: [conversion] }],
  });
  const at = 'buyer_conversions_schedule.0.buyer_conversions_attributes.0';
  for (const conversionType of [undefined, 'duration'])
    expect(
      (await create(framed({ conversion_type: conversionType, revenue: 25 }))).body.errors,
    ).toEqual({
      [`${at}.revenue`]: [expect.stringContaining(`needs ${at}.duration`)],
    });
  const sale = await create(framed({ conversion_type: 'postback', revenue: 25 }));
  expect(sale.body.buyer.buyer_conversions_schedule).toHaveLength(1);
});

test('a blank entry of business hours does not open a buyer at all hours', async () => {
  const monday = { schedule: [{ day: 1, times: ['09:00..17:00'] }] };
  const blank = { schedule: [], attempt_hourly_limit: null };
  const { id, business_hours_schedule } = await createRecord({
    business_hours_schedule: [blank, monday, blank],
  });
  expect(business_hours_schedule).toEqual([monday]);
  const limited = { schedule: [], attempt_hourly_limit: 3 };
  const res = await put(id, { business_hours_schedule: [blank, limited] });
  expect(res.body.buyer.business_hours_schedule).toEqual([limited]);
  await put(id, { business_hours_schedule: [blank] });
  expect((await shown(id)).business_hours_schedule).toEqual([]);
});

test.each(['buyers', 'buyer_groups'])('blank fields of teams make no team of %s', async (path) => {
  const body = { name: 'Blank', team_users_emails: '', team_offer_ids: '' };
  const created = await here.world.company.api('post', path, { body });
  expect([created.status, created.body.errors]).toEqual([201, {}]);
  const root = path.slice(0, -1);
  await ok('put', `${path}/${created.body[root].id}`, {
    team_users_emails: [],
    team_offer_ids: null,
  });
  const { access_control_lists: teams } = await ok('get', 'access_control_lists?per_page=1000');
  expect(teams.filter(({ name }: { name: string }) => name === 'Blank team')).toEqual([]);
});

test('blank payouts of an offer pay nothing, and an entry without an amount is refused', async () => {
  const { api } = here.world.company;
  const body = (payouts: unknown) => ({ body: { name: 'Paying', payouts } });
  expect((await api('post', 'offers', body(''))).body.offer).toMatchObject({ payouts: [] });
  const res = await api('post', 'offers', body([{ payout_type: 'fixed', amount: '' }]));
  expect(res.body.errors).toEqual({ 'payouts.0.amount': [expect.any(String)] });
});
