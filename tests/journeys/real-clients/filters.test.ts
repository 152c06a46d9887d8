import { CALLER, on, setUp, world } from '../../support/carrier-calls';

// Filters as real clients write them: understood, or refused with the list of operators.

type Fields = Record<string, unknown>;

setUp();

const UNKNOWN = ['age:=>18', 'age:<>18', 'state:contains CA', 'state:not CA', 'state:in ()'];
const OPERATORS = ['==', '!=', '>=', '<=', '=~', '!~', 'in', 'not in', 'in_list'];

test.each([
  ['buyers', { name: 'B' }, 'record_token_filter_list'],
  ['buyers', { name: 'B', current_conversion_duration: 9 }, 'current_conversion_token_values'],
  [
    'outgoing_webhooks',
    { name: 'W', trigger_type: 'every_call', url: 'https://example.com' },
    'record_token_filter_list',
  ],
])('%s %j refuses in %s what it does not understand', async (path, usual, field) => {
  for (const filter of UNKNOWN) {
    const body = { ...usual, [field]: ['state:in [CA]', filter] };
    const res = await world.company.api('post', path, { body });
    expect([filter, res.status]).toEqual([filter, 422]);
    const [[name, messages]] = Object.entries(res.body.errors) as [[string, string[]]];
    expect(name).toContain(field);
    for (const operator of OPERATORS) expect(messages.join()).toContain(operator);
  }
  for (const filter of ['age:==18', 'state:NOT IN (CA, NV)', 'zip:!~^9', 'income:>=$50,000']) {
    const body = { ...usual, [field]: [filter] };
    const { status, text } = await world.company.api('post', path, { body });
    expect([status, status < 300 ? '' : text]).toEqual([201, '']);
  }
});

test('a schedule action refuses them too, and takes every spelling', async () => {
  const { schedule } = await on.ok('post', 'schedules', { name: 'S' });
  const action = { schedule_id: schedule.id, action_type: 'exit' };
  const send = (tokenFilterList: string[]) =>
    world.company.api('post', 'schedule_actions', {
      body: { ...action, token_filter_list: tokenFilterList },
    });
  expect((await send(['age:=>18'])).status).toBe(422);
  expect((await send(['age:==18', 'state:In [CA,NV]'])).status).toBe(201);
});

/** True if a buyer with the filter is dialed for the call. */
async function isDialed(filter: string, call: Fields = {}): Promise<boolean> {
  const filtered = await on.buyer({ tier: 1, record_token_filter_list: [filter] });
  const offer = await on.ok('post', 'offers', { name: 'One', buyer_ids: [filtered.id] });
  const { call_session } = await on.ok('post', 'call_sessions', {
    offer_id: offer.offer.id,
    caller_number: CALLER,
    ...call,
  });
  return call_session.instruction.action === 'dial';
}

describe('the facts of a call', () => {
  test('its traffic source, its sub id and the number called can be filtered', async () => {
    const { traffic_source } = await on.ok('post', 'traffic_sources', {
      name: 'Ads',
      user_traffic_source_id: 'ads-1',
    });
    const call = { traffic_source_id: traffic_source.id, sub_id: 'blue' };
    expect(await isDialed(`traffic_source_id:${traffic_source.id}`, call)).toBe(true);
    expect(await isDialed(`traffic_source_id:in ${traffic_source.id + 1}`, call)).toBe(false);
    expect(await isDialed('user_traffic_source_id:in [ADS-1, x]', call)).toBe(true);
    expect(await isDialed('user_traffic_source_id:!=ads-1', call)).toBe(false);
    expect(await isDialed('sub_id:blue', call)).toBe(true);
    expect(await isDialed('sub_id:red', call)).toBe(false);
  });

  test('a token of that name does not stand for the traffic source', async () => {
    const tokens = { user_traffic_source_id: 'ads-1', traffic_source_id: '7' };
    expect(await isDialed('user_traffic_source_id:ads-1', { tokens })).toBe(false);
    expect(await isDialed('traffic_source_id:7', { tokens })).toBe(false);
  });

  test('the area code says the state, before nothing else does', async () => {
    expect(await isDialed('area_code:310')).toBe(true);
    expect(await isDialed('area_code:not in 310,424')).toBe(false);
    expect(await isDialed('geo_state:CA')).toBe(true);
    expect(await isDialed('geo_state:in [California, NV]')).toBe(true);
    expect(await isDialed('geo_state:NY')).toBe(false);
    expect(await isDialed('geo_country:US')).toBe(true);
    expect(await isDialed('geo_country:CA')).toBe(false);
  });

  test('what the carrier says comes before the area code, and the lead before both', async () => {
    const first = await on.buyer({ record_token_filter_list: ['geo_state:NV', 'geo_zip:89101'] });
    const two = await on.buyer({ tier: 2, record_token_filter_list: ['geo_city:=~(?i)^reno$'] });
    const three = await on.buyer({ tier: 3, record_token_filter_list: ['geo_state:CA'] });
    const offerId = await on.offer([first, two, three]);
    const rung = async (more: Record<string, string>) =>
      (await on.placeCall({ to: on.companyNumber, gives_up: 2, more })).rung[0];
    const vegas = { CallerCity: 'LAS VEGAS', CallerState: 'NV', CallerZip: '89101' };
    expect(await rung(vegas)).toEqual([first.number]);
    const reno = { FromCity: 'RENO', FromState: 'NV', FromZip: '89501' };
    expect(await rung(reno)).toEqual([two.number]);
    expect(await rung({})).toEqual([three.number]);
    const call = await on.loadCall(
      await on.placeCall({ to: on.companyNumber, gives_up: 2, more: vegas }),
    );
    const shown = (await on.ok('get', `calls/${call.id}`)).call;
    expect(shown).toMatchObject({ caller_state: 'NV', caller_zip: '89101' });
    const { offer } = await on.ok('get', `offers/${offerId}`);
    await on.ok('post', 'leads', {
      lead_token: offer.lead_token,
      caller_id: CALLER,
      state: 'California',
      zip: '90001',
    });
    expect(await rung(vegas)).toEqual([three.number]);
  });

  test('the next round and the conversion of a call see the same facts', async () => {
    const first = await on.buyer({ tier: 1 });
    const second = await on.buyer({
      tier: 2,
      record_token_filter_list: ['geo_zip:89101', 'number_called:==' + on.companyNumber.slice(2)],
      current_conversion_token_values: ['geo_state:==NV', 'number_called:in ' + on.companyNumber],
    });
    const third = await on.buyer({
      tier: 3,
      record_token_filter_list: ['geo_zip:!=89101'],
    });
    await on.offer([first, second, third]);
    const played = await on.placeCall({
      to: on.companyNumber,
      buyers: { [second.number]: { does: 'answer', after: 3, talks: 30 } },
      more: { CallerState: 'NV', CallerZip: '89101' },
    });
    expect(played.connected).toBe(second.number);
    expect(await on.loadCall(played)).toMatchObject({ buyer_converted: true, revenue: '10.00' });
  });

  test('an explanation takes the facts, and says which filter does not hold', async () => {
    const { traffic_source } = await on.ok('post', 'traffic_sources', {
      name: 'Ads',
      user_traffic_source_id: 'ads-2',
    });
    const first = await on.buyer({ record_token_filter_list: ['user_traffic_source_id:==ads-2'] });
    const two = await on.buyer({ record_token_filter_list: ['sub_id:in [blue]'] });
    const offerId = await on.offer([first, two]);
    const ask = async (more: Fields) =>
      (
        await on.ok('post', 'routing/explain', {
          offer_id: offerId,
          caller_number: CALLER,
          ...more,
        })
      ).decision.candidates as { buyer_id: number; details: Fields | null }[];
    const unmet = (candidates: { buyer_id: number; details: Fields | null }[]) =>
      Object.fromEntries(
        candidates.map((candidate) => [candidate.buyer_id, candidate.details?.filter ?? null]),
      );
    expect(unmet(await ask({}))).toEqual({
      [first.id]: 'user_traffic_source_id:==ads-2',
      [two.id]: 'sub_id:in [blue]',
    });
    const facts = { traffic_source_id: traffic_source.uuid, sub_id: 'blue' };
    expect(unmet(await ask(facts))).toEqual({ [first.id]: null, [two.id]: null });
  });

  test('a simulation of real calls judges them by the same facts', async () => {
    const buyer = await on.buyer({ record_token_filter_list: ['geo_zip:89101'] });
    const offerId = await on.offer([buyer]);
    for (const CallerZip of ['89101', '89102'])
      await on.placeCall({ to: on.companyNumber, gives_up: 2, more: { CallerZip } });
    const { simulation } = await on.ok('post', 'routing/simulate', {
      offer_id: offerId,
      from: '2026-06-01T00:00:00Z',
      to: '2026-06-02T00:00:00Z',
      changes: [{ buyer_id: buyer.id, weight: 2 }],
    });
    expect(simulation.buyers[0].as_configured).toMatchObject({
      attempts: 1,
      skip_reasons: { filter_unmet: 1 },
    });
  });
});
