import { createCallWriter } from '../../support/calls';
import { CALLER, softswitch } from '../../support/softswitch';

const here = softswitch('2026-06-01T16:00:00Z');
const { ok, errors, buyer, offer, begin, loadEvents } = here;

type Fields = Record<string, unknown>;

/** A call that rings at a buyer. */
const createRingingCall = async (fields: Fields = {}) => {
  const buyerIds = [await buyer({ name: 'Ada', number: '+12125550101', ...fields })];
  return begin(await offer({ buyer_ids: buyerIds }), { tokens: { state: 'CA' } });
};

describe('a change of a call', () => {
  test('is read from the query string, JSON and forms, also with a user token', async () => {
    const call = await createRingingCall();
    const { api } = here.world.company;
    const permissions = ['calls:update', 'calls:money'];
    const token = await here.world.credentials(here.world.company, permissions, {
      kind: 'user_token',
      user_email: 'ann@example.com',
    });
    const res = await api('post', `calls/update_call/${call.uuid}`, {
      auth: null,
      query: {
        auth_token: token,
        revenue: '7.50',
        buyer_converted: 'true',
        post_call_tokens: 'a:1,b:x, y',
      },
    });
    expect([res.status, res.body.call]).toEqual([
      200,
      expect.objectContaining({
        revenue: 7.5,
        buyer_revenue: 7.5,
        buyer_converted: true,
        token_values: { state: 'CA', a: '1', b: 'x, y' },
      }),
    ]);
    const form = await api('post', `calls/${call.id}`, {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'add_revenue=2.50&data[policy]=sold&payout=1',
    });
    expect(form.body.call).toMatchObject({
      revenue: 10,
      payout: 1,
      traffic_source_converted: true,
      token_values: { a: '1', policy: 'sold' },
    });
    const json = await api('post', `calls/${call.id}`, {
      body: { post_call_tokens: { a: 2, c: true }, data: { c: false, revenue: 99 } },
    });
    expect(json.body.call).toMatchObject({
      revenue: 10,
      token_values: { a: 2, c: false, revenue: 99, policy: 'sold' },
    });
    const { call: shown } = await ok('get', `calls/${call.id}`);
    expect(json.body.call).toEqual(shown);
    expect(shown.user_updated_at).not.toBeNull();
    expect(await loadEvents(call)).toEqual([
      'started',
      'dialed',
      'tokens_changed',
      'converted',
      'tokens_changed',
      'payout_changed',
      'revenue_changed',
      'tokens_changed',
    ]);
    const { call_events } = await ok('get', `calls/${call.id}/events`);
    expect(call_events[6]).toMatchObject({
      message: 'the buyer pays $10.00, before $7.50',
      details: { from: 7.5, to: 10 },
      buyer: 'Ada',
    });
  });

  test('under one Idempotency-Key counts once', async () => {
    const call = await createRingingCall();
    const add = () =>
      here.world.company.api('post', `calls/${call.id}`, {
        body: { add_revenue: 5 },
        headers: { 'Idempotency-Key': `add-${call.id}` },
      });
    await add();
    expect((await add()).body.call.revenue).toBe(5);
    expect((await ok('get', `calls/${call.id}`)).call.revenue).toBe(5);
  });

  test('is rejected as a whole if a part of it is not possible', async () => {
    const call = await createRingingCall();
    const path = `calls/${call.id}`;
    expect(await errors(path, { revenue: 5, add_revenue: 1 })).toEqual([
      422,
      { add_revenue: ['must not be given together with revenue'] },
    ]);
    expect(await errors(path, { revenue: -1, payout: 1.001 })).toEqual([
      422,
      { revenue: [expect.any(String)], payout: [expect.any(String)] },
    ]);
    expect(await errors(path, { payout: 3, add_revenue: -1 })).toEqual([
      422,
      { add_revenue: [expect.stringContaining('at $0.00 or above')] },
    ]);
    expect(await errors(path, { post_call_tokens: 'no pair' })).toEqual([
      422,
      { post_call_tokens: [expect.stringContaining('key:value')] },
    ]);
    expect(await errors(path, { data: { a: 'x'.repeat(70_000) } })).toEqual([
      422,
      { data: [expect.stringContaining('65536')] },
    ]);
    expect(await errors(path, { nonsense: 1 })).toEqual([422, { nonsense: [expect.any(String)] }]);
    for (const name of ['a', 'b']) await ok('post', path, { data: { [name]: 'x'.repeat(60_000) } });
    expect(await errors(path, { payout: 3, data: { c: 'x'.repeat(60_000) } })).toEqual([
      422,
      { data: [expect.stringContaining('128 kB')] },
    ]);
    expect((await ok('get', path)).call).toMatchObject({ payout: 0, revenue: 0 });
    expect(
      (
        await here.world.company.api('post', 'calls/update_call/999999999', {
          body: { revenue: 1 },
        })
      ).status,
    ).toBe(404);
    const otherCompany = await here.world.addCompany();
    expect((await otherCompany.api('post', path, { body: { revenue: 1 } })).status).toBe(404);
  });

  test('sets no revenue of a call without a buyer, but its source may be paid', async () => {
    const call = await createCallWriter(here.world, here.world.company).call();
    const why = [expect.stringContaining('no buyer was dialed')];
    expect(await errors(`calls/${call.id}`, { buyer_converted: true, revenue: 5 })).toEqual([
      422,
      { buyer_converted: why, revenue: why },
    ]);
    expect(
      (await ok('post', `calls/${call.id}`, { buyer_converted: false, payout: 4 })).call,
    ).toMatchObject({ payout: 4, buyer_converted: false });
  });

  test('makes no conversion with buyer_converted=false', async () => {
    const call = await createRingingCall();
    const res = await ok('post', `calls/${call.id}`, { buyer_converted: 'false' });
    expect(res.call.buyer_converted).toBe(false);
    expect(await loadEvents(call)).toEqual(['started', 'dialed']);
  });

  test('leaves the revenue that other buyers of the call pay', async () => {
    const conversion = {
      name: 'Ring',
      conversion_type: 'duration',
      duration: 0,
      revenue: 2,
      duplicate_timeframe: 0,
    };
    const pays = {
      buyer_conversions_schedule: [{ buyer_conversions_attributes: [conversion], schedule: [] }],
    };
    const [firstBuyer, secondBuyer] = [
      await buyer({ tier: 1, ...pays }),
      await buyer({ tier: 2, ...pays }),
    ];
    const offer = (
      await ok('post', 'offers', { name: 'Auto', buyer_ids: [firstBuyer, secondBuyer] })
    ).offer.id;
    const call = (await ok('post', 'call_sessions', { offer_id: offer, caller_number: CALLER }))
      .call_session;
    await ok('post', `call_sessions/${call.id}/events`, { event: 'busy' });
    expect(await errors(`calls/${call.id}`, { revenue: 1 })).toEqual([
      422,
      { revenue: [expect.stringContaining('other buyers pay $2.00')] },
    ]);
    expect((await ok('post', `calls/${call.id}`, { revenue: 12 })).call.revenue).toBe(12);
    const used = async (id: number) => (await ok('get', `buyers/${id}`)).buyer.revenue_total_used;
    expect([await used(firstBuyer), await used(secondBuyer)]).toEqual([2, 10]);
  });
});

describe('the tokens that a buyer adds', () => {
  const adds = { record_token_additional_list: 'desk:east,note:a, b' };

  test('are added to the call and its lead when connected, and count for conversions', async () => {
    const sale = {
      name: 'Sale',
      conversion_type: 'duration',
      duration: 0,
      revenue: 10,
      duplicate_timeframe: 0,
      token_values: ['desk:east'],
    };
    const pays = {
      buyer_conversions_schedule: [{ buyer_conversions_attributes: [sale], schedule: [] }],
    };
    const [away, home] = [
      await buyer({ tier: 1, record_token_additional_list: 'desk:west' }),
      await buyer({ tier: 2, ...adds, ...pays }),
    ];
    const createdOffer = (await ok('post', 'offers', { name: 'Auto', buyer_ids: [away, home] }))
      .offer;
    const lead = await here.world.company.api('post', 'leads', {
      auth: null,
      query: { lead_token: createdOffer.lead_token, caller_id: CALLER, desk: 'none', zip: '10001' },
    });
    const call = (
      await ok('post', 'call_sessions', { offer_id: createdOffer.id, caller_number: CALLER })
    ).call_session;
    for (const event of ['busy', 'ringing'])
      await ok('post', `call_sessions/${call.id}/events`, { event });
    expect((await ok('get', `calls/${call.id}`)).call.token_values).toEqual({
      desk: 'none',
      zip: '10001',
    });
    await ok('post', `call_sessions/${call.id}/events`, { event: 'answered' });
    expect((await ok('get', `calls/${call.id}`)).call.token_values).toEqual({
      desk: 'east',
      note: 'a, b',
      zip: '10001',
    });
    expect((await ok('get', `leads/${lead.body.id}`)).lead.data).toEqual({
      desk: 'east',
      note: 'a, b',
      zip: '10001',
    });
    await ok('post', `call_sessions/${call.id}/events`, { event: 'completed' });
    expect((await ok('get', `calls/${call.id}`)).call).toMatchObject({
      buyer_converted: true,
      revenue: 10,
    });
  });

  test('are added only after the key if one is asked for', async () => {
    const call = await createRingingCall({ ...adds, press_one_to_accept: true });
    await ok('post', `call_sessions/${call.id}/events`, { event: 'answered' });
    expect((await ok('get', `calls/${call.id}`)).call.token_values).toEqual({ state: 'CA' });
    await ok('post', `call_sessions/${call.id}/events`, { event: 'key_press', key: '1' });
    expect((await ok('get', `calls/${call.id}`)).call.token_values).toEqual({
      state: 'CA',
      desk: 'east',
      note: 'a, b',
    });
  });

  test('are not added to a lead that would become too large', async () => {
    const call = await createRingingCall(adds);
    const full = JSON.stringify({ a: 'x'.repeat(131_060) });
    const [row] = await here.world.sql<{ id: string }>(
      `INSERT INTO leads (company_id, caller_number, offer_id, status, data, entered_at, uuid)
      VALUES ($1, 13105550188, $2, 'queue', $3, now(), gen_random_uuid())
      RETURNING id`,
      [here.world.company.id, call.offer_id, full],
    );
    await here.world.sql('UPDATE calls SET lead_id = $2 WHERE id = $1', [call.id, row!.id]);
    await ok('post', `call_sessions/${call.id}/events`, { event: 'answered' });
    expect((await ok('get', `calls/${call.id}`)).call.token_values).toMatchObject({ desk: 'east' });
    expect(Object.keys((await ok('get', `leads/${row!.id}`)).lead.data)).toEqual(['a']);
  });
});
