import { eventually } from '../../support/engine-process';
import { useWorld } from '../../support/use-world';
import { addRecording } from '../../support/recorded-calls';

const world = useWorld({ receiver: true, webhooks: true });
const { hook, ok, create, nextNumber } = world;

describe('calls', () => {
  const buyer = (fields: object = {}) =>
    create('buyers', {
      name: 'Buyer',
      number: '+12125550199',
      current_conversion_revenue: 20,
      current_conversion_duration: 5,
      ...fields,
    });
  const session = async (offerId: number, fields: object = {}) =>
    (
      await ok('post', 'call_sessions', {
        offer_id: offerId,
        caller_number: nextNumber(),
        ...fields,
      })
    ).call_session;
  const report = (id: number, event: string, fields: object = {}) =>
    ok('post', `call_sessions/${id}/events`, { event, ...fields });
  const createOffer = (buyerIds: number[], fields: object = {}) =>
    create('offers', { name: 'Offer', buyer_ids: buyerIds, ...fields });

  test('a call that converts has each event once, in order and with its results', async () => {
    const id = await buyer();
    const offer = await createOffer([id], {
      payouts: [{ traffic_source_id: null, payout_type: 'fixed', amount: 7 }],
    });
    const owner = { owner_type: 'Offer', owner_id: offer };
    const names = [
      'new_call_started',
      'buyer_dialled',
      'buyer_answered',
      'buyer_converted',
      'offer_converted',
      'every_call',
      'buyer_did_not_convert',
      'call_changed',
    ];
    const hooks = Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await hook(name, owner)] as const)),
    );
    const trafficSourceId = await create('traffic_sources', { name: 'Search' });
    const call = await session(offer, {
      tokens: { state: 'CA' },
      traffic_source_id: trafficSourceId,
    });
    await report(call.id, 'answered');
    await report(call.id, 'duration', { duration: 6 });
    await report(call.id, 'completed', { duration: 9 });
    await ok('post', `calls/${call.id}`, { post_call_tokens: { sold: 'yes' }, add_revenue: 5 });
    expect((await hooks.call_changed!.payloads(1))[0]!.data.call).toMatchObject({
      revenue: 25,
      token_values: { state: 'CA', sold: 'yes' },
    });
    expect((await hooks.every_call!.payloads(1))[0]!.data).toMatchObject({
      call: { id: call.id, revenue: 20, answered_duration: 9, buyer_converted: true },
      buyer: { id },
    });
    expect((await hooks.buyer_converted!.payloads(1))[0]!.data).toMatchObject({
      conversion: { call_id: call.id, buyer_id: id, revenue: 20, payout: 7 },
      buyer: { id },
    });
    expect((await hooks.offer_converted!.payloads(1))[0]!.data.call).toMatchObject({
      payout: 7,
      traffic_source_converted: true,
    });
    expect((await hooks.buyer_dialled!.payloads(1))[0]!.data).toMatchObject({
      attempt: { call_id: call.id, status: 'ringing', buyer_id: id },
    });
    expect((await hooks.buyer_answered!.payloads(1))[0]!.data).toMatchObject({
      attempt: { status: 'connected' },
    });
    expect((await hooks.new_call_started!.payloads(1))[0]!.data.call).toMatchObject({
      id: call.id,
      ended_at: null,
    });
    expect(names.map((name) => hooks[name]!.got().length)).toEqual([1, 1, 1, 1, 1, 1, 0, 1]);
    expect((await ok('get', `calls/${call.id}`)).call.outgoing_webhooks_count).toBe(7);
  });

  test('conversion_returned has the conversion and the reason; of a payout alone, the call', async () => {
    const id = await buyer();
    const payouts = [{ traffic_source_id: null, payout_type: 'fixed', amount: 7 }];
    const offer = await createOffer([id], { payouts });
    const returned = await hook('conversion_returned', { owner_type: 'Offer', owner_id: offer });
    const trafficSourceId = await create('traffic_sources', { name: 'Returned' });
    const call = await session(offer, { traffic_source_id: trafficSourceId });
    await report(call.id, 'answered');
    await report(call.id, 'completed', { duration: 9 });
    await ok('post', `calls/${call.id}`, { offer_converted: false });
    const [first] = await returned.payloads(1);
    expect(first!.data).toMatchObject({
      call: { id: call.id, revenue: 20, payout: 0 },
      buyer: { id },
    });
    expect(first!.data).not.toHaveProperty('conversion');
    const reason = { adjustment_reason: 'wrong number' };
    for (let n = 0; n < 2; n++)
      await ok('post', `calls/${call.id}`, { buyer_converted: false, ...reason });
    const [, second] = await returned.payloads(2);
    expect(second!.data).toMatchObject({
      call: { id: call.id, revenue: 0, buyer_converted: false },
      conversion: {
        call_id: call.id,
        buyer_id: id,
        revenue: 20,
        returned_at: expect.any(String),
        return_reason: 'wrong number',
      },
    });
    expect(returned.got()).toHaveLength(2);
  });

  test('buyer_did_not_convert is of answered calls, not of missed ones', async () => {
    const id = await buyer();
    const offer = await createOffer([id]);
    const not = await hook('buyer_did_not_convert', { owner_type: 'Buyer', owner_id: id });
    expect(
      await world.sql('SELECT outgoing_webhooks_count AS n FROM buyers WHERE id = $1', [id]),
    ).toEqual([{ n: 1 }]);
    const [short, missed] = [await session(offer), await session(offer)];
    await report(missed.id, 'completed');
    await report(short.id, 'answered');
    await report(short.id, 'completed', { duration: 1 });
    expect((await not.payloads(1)).map(({ data }) => data.call!.id)).toEqual([short.id]);
  });

  test('a webhook gets the events of its owner that pass its filters', async () => {
    const [firstBuyer, secondBuyer] = [await buyer(), await buyer()];
    const [offer, otherOffer] = [await createOffer([firstBuyer]), await createOffer([secondBuyer])];
    const group = await create('buyer_groups', { name: 'Group', buyer_ids: [secondBuyer] });
    const source = await create('traffic_sources', { name: 'Source' });
    const hooks = {
      offer: await hook('buyer_dialled', { owner_type: 'Offer', owner_id: offer }),
      buyer: await hook('buyer_dialled', { owner_type: 'Buyer', owner_id: firstBuyer }),
      group: await hook('buyer_dialled', { owner_type: 'BuyerGroup', owner_id: group }),
      source: await hook('buyer_dialled', { owner_type: 'TrafficSource', owner_id: source }),
      filtered: await hook('buyer_dialled', {
        record_token_filter_list: ['state:in CA,NV', 'age:>=18'],
      }),
      company: await hook('buyer_dialled'),
    };
    const a = await session(offer, { tokens: { state: 'NV', age: 30 } });
    const b = await session(otherOffer, {
      tokens: { state: 'NV', age: 3 },
      traffic_source_id: source,
    });
    await hooks.company.payloads(2);
    const calls = async (name: keyof typeof hooks, count: number) =>
      (await hooks[name].payloads(count)).map(({ data }) => data.call!.id);
    expect([await calls('company', 2), await calls('offer', 1), await calls('buyer', 1)]).toEqual([
      [a.id, b.id],
      [a.id],
      [a.id],
    ]);
    expect([await calls('group', 1), await calls('source', 1), await calls('filtered', 1)]).toEqual(
      [[b.id], [b.id], [a.id]],
    );
    for (const { id } of Object.values(hooks)) await ok('delete', `outgoing_webhooks/${id}`);
  });

  test('tokens are escaped where they stand; too large a body is dead at once', async () => {
    const offer = await createOffer([await buyer()]);
    const owner = { owner_type: 'Offer', owner_id: offer };
    const filled = await hook('new_call_started', {
      ...owner,
      headers: { 'X-State': '{{state}}', Authorization: 'Bearer {{state}}' },
      body: '{"state": "{{state}}", "who": "[missing]{none}", "offer": "{{offer_name}}"}',
    });
    await ok('put', `outgoing_webhooks/${filled.id}`, {
      url: `${world.receiver.url}${filled.path}?s={{state}}`,
    });
    const large = await hook('new_call_started', {
      ...owner,
      body: '{{big}}{{big}}{{big}}{{big}}{{big}}',
    });
    const thin = await hook('new_call_started', owner);
    const big = 'x'.repeat(5_000);
    const call = await session(offer, {
      tokens: { state: 'C"A &\n', big, big2: big, big3: big, big4: big, big5: big },
    });
    await eventually(() => filled.got().length === 1);
    const [got] = filled.got();
    expect([got!.path, got!.headers['x-state'], JSON.parse(got!.body)]).toEqual([
      `${filled.path}?s=C%22A%20%26%0A`,
      'C"A &',
      { state: 'C"A &\n', who: 'none', offer: 'Offer' },
    ]);
    expect((await thin.payloads(1))[0]).toMatchObject({
      truncated: true,
      data: { call: { id: call.id, routes_show_path: `/api/v1/calls/${call.id}` } },
    });
    const { webhook_logs } = await ok('get', `webhook_logs?outgoing_webhook_id=${large.id}`);
    expect(webhook_logs).toMatchObject([
      {
        attempt: 0,
        success: false,
        code: null,
        request_body: null,
        notes: expect.stringContaining('25000 bytes'),
        call_id: call.id,
      },
    ]);
    expect(
      (await world.api('post', `webhook_logs/${webhook_logs[0].id}/redeliver`)).body.errors,
    ).toEqual({ id: [expect.stringContaining('20 kB')] });
    await eventually(
      async () =>
        (await ok('get', `webhook_logs?outgoing_webhook_id=${filled.id}`)).webhook_logs.length ===
        1,
    );
    const [log] = (
      await ok(
        'get',
        `webhook_logs?outgoing_webhook_id=${filled.id}&success=true&code=200&call_id=${call.uuid}`,
      )
    ).webhook_logs;
    expect(log).toMatchObject({
      request_method: 'POST',
      request_headers: { Authorization: '[hidden]', 'X-State': 'C"A &' },
      response_body: 'thanks',
      attempt: 1,
      success: true,
    });
    expect(log.event_id).toBe(got!.headers['webhook-id']);
  });

  test('a transaction that is rolled back has no events', async () => {
    const started = await hook('new_call_started');
    const write = addRecording(`
      INSERT INTO calls (company_id, uuid, direction, status, carrier, caller_number)
      VALUES ($1, gen_random_uuid(), 'inbound', 'ringing', 'sandbox', 13105550123)
      RETURNING id`);
    await world.sql('BEGIN');
    await world.sql(write, [world.company.id]);
    await world.sql('ROLLBACK');
    const [storedCall] = await world.sql<{ id: string }>(write, [world.company.id]);
    expect((await started.payloads(1)).map(({ data }) => data.call!.id)).toEqual([
      Number(storedCall!.id),
    ]);
    expect(await world.sql('SELECT FROM webhook_events')).toEqual([]);
  });
});
