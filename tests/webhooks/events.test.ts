import { Webhook } from 'standardwebhooks';
import { startWebhooks } from '../../src/background/webhook-loops';
import type { Running } from '../../src/jobs/loop';
import { eventually } from '../support/engine-process';
import { openShop, submit } from '../support/leads';
import { checkPayload, startReceiver } from '../support/receiver';
import { createWorld, type World } from '../support/world';

let world: World;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let running: Running;
beforeAll(async () => {
  receiver = await startReceiver();
  world = await createWorld({ environment: { WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' } });
  running = startWebhooks(world.deps);
});
afterAll(async () => {
  await running.stop();
  await world.close();
  await receiver.close();
});

let paths = 0;
const hook = async (trigger_type: string, fields: object = {}) => {
  const path = `/hook${++paths}`;
  const body = { name: `Hook ${paths}`, trigger_type, url: `${receiver.url}${path}`, ...fields };
  const res = await world.company.api('post', 'outgoing_webhooks', { body });
  if (res.status !== 201) throw new Error(res.text);
  const got = () => receiver.received.filter((one) => one.path.startsWith(path));
  return {
    id: res.body.outgoing_webhook.id as number,
    secret: res.body.secret as string,
    path,
    got,
    /** The payloads, once so many have come, each held against the contract. */
    payloads: async (count: number) => {
      await eventually(() => got().length >= count);
      return got().map(({ body: text }) => checkPayload(text));
    },
  };
};
const ok = async (method: 'get' | 'post' | 'put' | 'delete', path: string, body?: object) => {
  const res = await world.company.api(method, path, body && { body });
  if (res.status >= 300) throw new Error(`${path}: ${res.text}`);
  return res.body;
};
let numbers = 1000;
const number = () => `+1310556${++numbers}`;

describe('leads', () => {
  test('a submission, a change, other contact data and an opt-out are told, each as the contract says and signed', async () => {
    const hooks = {
      created: await hook('new_lead_created'),
      changed: await hook('lead_changed'),
      fields: await hook('contact_fields_changed'),
      out: await hook('lead_opted_out'),
    };
    const { schedule } = await openShop(world, [
      { action_type: 'wait', wait_amount: 9, wait_unit: 'hours' },
    ]);
    const caller_id = number();
    const { id } = (await submit(world, schedule.lead_token, { caller_id, state: 'CA' })).body;
    const [made] = await hooks.created.payloads(1);
    expect(made).toMatchObject({
      type: 'new_lead_created',
      data: { lead: { id, caller_id, data: { state: 'CA' } } },
    });
    await ok('put', `leads/${id}`, { data: { zip: '90012' } });
    expect((await hooks.fields.payloads(1))[0]!.data.lead).toMatchObject({
      id,
      data: { state: 'CA', zip: '90012' },
    });
    await ok('put', `leads/${id}`, { lead_priority: 3 });
    await ok('put', `leads/${id}`, { opt_out: true });
    expect((await hooks.out.payloads(1))[0]!.data.lead).toMatchObject({
      id,
      status: 'opt_out',
      opt_out: true,
    });
    const changes = await hooks.changed.payloads(3);
    expect(changes.map(({ data }) => [data.lead!.lead_priority, data.lead!.status])).toEqual([
      [null, 'scheduled'],
      [3, 'scheduled'],
      [3, 'opt_out'],
    ]);
    expect(hooks.fields.got()).toHaveLength(1);
    const { body, headers } = hooks.created.got()[0]!;
    expect(
      new Webhook(hooks.created.secret).verify(body, headers as Record<string, string>),
    ).toEqual(made);
    expect(() =>
      new Webhook(hooks.changed.secret).verify(body, headers as Record<string, string>),
    ).toThrow();
    for (const { id: webhook } of Object.values(hooks))
      await ok('delete', `outgoing_webhooks/${webhook}`);
  });

  test('who opts out without a lead in action is told of once, with the last lead', async () => {
    const { schedule } = await openShop(world, [
      { action_type: 'wait', wait_amount: 9, wait_unit: 'hours' },
    ]);
    const caller_id = number();
    const { id } = (await submit(world, schedule.lead_token, { caller_id })).body;
    await ok(
      'post',
      `leads/${encodeURIComponent(caller_id)}/caller_remove?lead_token=${schedule.lead_token}`,
    );
    const out = await hook('lead_opted_out');
    await ok('put', `leads/${id}`, { opt_out: true });
    expect((await out.payloads(1)).map(({ data }) => data.lead!.id)).toEqual([id]);
  });
});

describe('calls', () => {
  const buyer = async (fields: object = {}) =>
    (
      await ok('post', 'buyers', {
        name: 'Buyer',
        number: '+12125550199',
        current_conversion_revenue: 20,
        current_conversion_duration: 5,
        ...fields,
      })
    ).buyer.id as number;
  const session = async (offer_id: number, fields: object = {}) =>
    (await ok('post', 'call_sessions', { offer_id, caller_number: number(), ...fields }))
      .call_session;
  const tell = (id: number, event: string, fields: object = {}) =>
    ok('post', `call_sessions/${id}/events`, { event, ...fields });
  const offerOf = async (buyer_ids: number[], fields: object = {}) =>
    (await ok('post', 'offers', { name: 'Offer', buyer_ids, ...fields })).offer.id as number;

  test('a call that converts is told from its beginning to its end, once each, in order and with what it came to', async () => {
    const id = await buyer();
    const offer = await offerOf([id], {
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
    const { id: traffic_source_id } = (await ok('post', 'traffic_sources', { name: 'Search' }))
      .traffic_source;
    const call = await session(offer, { tokens: { state: 'CA' }, traffic_source_id });
    await tell(call.id, 'answered');
    await tell(call.id, 'duration', { duration: 6 });
    await tell(call.id, 'completed', { duration: 9 });
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

  test('a buyer that took a call and does not pay for it did not convert; one that never took it neither did nor did not', async () => {
    const id = await buyer();
    const offer = await offerOf([id]);
    const not = await hook('buyer_did_not_convert', { owner_type: 'Buyer', owner_id: id });
    expect(
      await world.sql('SELECT outgoing_webhooks_count AS n FROM buyers WHERE id = $1', [id]),
    ).toEqual([{ n: 1 }]);
    const [short, missed] = [await session(offer), await session(offer)];
    await tell(missed.id, 'completed');
    await tell(short.id, 'answered');
    await tell(short.id, 'completed', { duration: 1 });
    expect((await not.payloads(1)).map(({ data }) => data.call!.id)).toEqual([short.id]);
  });

  test('a webhook is told of what its owner has to do with, as its filters ask', async () => {
    const [one, two] = [await buyer(), await buyer()];
    const [offer, other] = [await offerOf([one]), await offerOf([two])];
    const { id: group } = (await ok('post', 'buyer_groups', { name: 'Group', buyer_ids: [two] }))
      .buyer_group;
    const source = (await ok('post', 'traffic_sources', { name: 'Source' })).traffic_source.id;
    const told = {
      offer: await hook('buyer_dialled', { owner_type: 'Offer', owner_id: offer }),
      buyer: await hook('buyer_dialled', { owner_type: 'Buyer', owner_id: one }),
      group: await hook('buyer_dialled', { owner_type: 'BuyerGroup', owner_id: group }),
      source: await hook('buyer_dialled', { owner_type: 'TrafficSource', owner_id: source }),
      filtered: await hook('buyer_dialled', {
        record_token_filter_list: ['state:in CA,NV', 'age:>=18'],
      }),
      company: await hook('buyer_dialled'),
    };
    const a = await session(offer, { tokens: { state: 'NV', age: 30 } });
    const b = await session(other, { tokens: { state: 'NV', age: 3 }, traffic_source_id: source });
    await told.company.payloads(2);
    const calls = async (name: keyof typeof told, count: number) =>
      (await told[name].payloads(count)).map(({ data }) => data.call!.id);
    expect([await calls('company', 2), await calls('offer', 1), await calls('buyer', 1)]).toEqual([
      [a.id, b.id],
      [a.id],
      [a.id],
    ]);
    expect([await calls('group', 1), await calls('source', 1), await calls('filtered', 1)]).toEqual(
      [[b.id], [b.id], [a.id]],
    );
    for (const { id } of Object.values(told)) await ok('delete', `outgoing_webhooks/${id}`);
  });

  test('tokens stand in the URL, the headers and the body, each escaped for its place; too large a body is dead at once', async () => {
    const offer = await offerOf([await buyer()]);
    const owner = { owner_type: 'Offer', owner_id: offer };
    const filled = await hook('new_call_started', {
      ...owner,
      headers: { 'X-State': '{{state}}', Authorization: 'Bearer {{state}}' },
      body: '{"state": "{{state}}", "who": "[nobody]{none}", "offer": "{{offer_name}}"}',
    });
    await ok('put', `outgoing_webhooks/${filled.id}`, {
      url: `${receiver.url}${filled.path}?s={{state}}`,
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
      (await world.company.api('post', `webhook_logs/${webhook_logs[0].id}/redeliver`)).body.errors,
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

  test('what is rolled back is told to nobody', async () => {
    const told = await hook('new_call_started');
    const write = `INSERT INTO calls (company_id, uuid, direction, status, carrier, caller_number) VALUES ($1, gen_random_uuid(), 'inbound', 'ringing', 'sandbox', 13105550123) RETURNING id`;
    await world.sql('BEGIN');
    await world.sql(write, [world.company.id]);
    await world.sql('ROLLBACK');
    const [kept] = await world.sql<{ id: string }>(write, [world.company.id]);
    expect((await told.payloads(1)).map(({ data }) => data.call!.id)).toEqual([Number(kept!.id)]);
    expect(await world.sql('SELECT FROM webhook_events')).toEqual([]);
  });
});

test('agents that come and go are told of, and those that change from one busy status to another are not', async () => {
  const [online, offline] = [await hook('agent_online'), await hook('agent_offline')];
  const { api } = world.company;
  const { agent } = (
    await api('post', 'agents', { body: { user_email: 'agent-of-webhooks@example.com' } })
  ).body;
  for (const key of ['available', 'on_call', 'offline', 'offline'])
    await api('put', `agents/${agent.id}/status`, { body: { key } });
  await api('put', `agents/${agent.id}/status`, { body: { key: 'wrap_up' } });
  await api('delete', `agents/${agent.id}`);
  const told = { id: agent.id, user_id: agent.user_id };
  expect((await online.payloads(2)).map(({ data }) => data)).toEqual([
    { agent: { ...told, status: 'available' } },
    { agent: { ...told, status: 'wrap_up' } },
  ]);
  expect((await offline.payloads(2)).map(({ data }) => data)).toEqual([
    { agent: { ...told, status: 'offline' } },
    { agent: { ...told, status: 'wrap_up' } },
  ]);
});

describe('a manual fire', () => {
  test('is delivered about a lead, and both logs come to it', async () => {
    const fired = await hook('manual');
    const { schedule } = await openShop(world, [
      { action_type: 'wait', wait_amount: 9, wait_unit: 'hours' },
    ]);
    const { id: lead_id } = (await submit(world, schedule.lead_token, { caller_id: number() }))
      .body;
    const body = {
      outgoing_webhook_id: fired.id,
      lead_id,
      created_at: '2026-05-01 10:00:00 +0000',
    };
    const { webhook_manual_fire: made } = await ok('post', 'webhook_manual_fires', body);
    expect(made).toMatchObject({
      lead_id,
      call_id: null,
      webhook_log_ids: [],
      lead_log_ids: [],
      created_at: '2026-05-01T10:00:00.000+00:00',
    });
    expect((await fired.payloads(1))[0]).toMatchObject({
      type: 'manual',
      data: { lead: { id: lead_id } },
    });
    const shown = async () =>
      (await ok('get', `webhook_manual_fires/${made.uuid}`)).webhook_manual_fire;
    await eventually(async () => (await shown()).webhook_log_ids.length === 1);
    const { webhook_log_ids, lead_log_ids } = await shown();
    const { lead_logs } = await ok('get', `lead_logs?lead_id=${lead_id}&event=webhook_delivered`);
    expect(lead_logs.map(({ id }: { id: number }) => id)).toEqual(lead_log_ids);
    expect((await ok('get', `webhook_logs/${webhook_log_ids[0]}`)).webhook_log).toMatchObject({
      webhook_manual_fire_id: made.id,
      lead_id,
    });
  });

  test('needs a webhook, and what it is about', async () => {
    const fired = await hook('every_call');
    const post = async (body: object) =>
      (await world.company.api('post', 'webhook_manual_fires', { body })).body.errors;
    expect(await post({})).toEqual({ outgoing_webhook_id: [expect.any(String)] });
    expect(await post({ outgoing_webhook_id: fired.id, lead_id: '' })).toEqual({
      lead_id: [expect.stringContaining('must be given')],
    });
    const made = (await world.company.api('get', 'webhook_manual_fires/new?lead_id=&created_at='))
      .body.webhook_manual_fire;
    expect(made).toMatchObject({ id: null, lead_id: null, created_at: null, webhook_log_ids: [] });
    expect(
      (await world.company.api('get', 'webhook_manual_fires/new?call_id=999999999')).body.errors,
    ).toEqual({ call_id: [expect.any(String)] });
  });
});

describe('a webhook is refused', () => {
  const post = async (fields: object) =>
    (
      await world.company.api('post', 'outgoing_webhooks', {
        body: {
          name: 'Hook',
          trigger_type: 'every_call',
          url: 'https://crm.example.com/',
          ...fields,
        },
      })
    ).body.errors;
  test.each<[string, object, string]>([
    ['an owner without its id', { owner_type: 'Offer' }, 'owner_id'],
    ['a company with one', { owner_id: 1 }, 'owner_id'],
    ['an owner that is not there', { owner_type: 'Buyer', owner_id: 999999 }, 'owner_id'],
    ['a private address', { url: 'http://10.0.0.1/' }, 'url'],
    ['a host of tokens', { url: 'https://{{host}}/' }, 'url'],
    ['a header of ours', { headers: { 'Webhook-Signature': 'x' } }, 'headers'],
    ['a header of HTTP', { headers: { 'Content-Length': '5' } }, 'headers'],
    ['too little time', { timeout_seconds: 2 }, 'timeout_seconds'],
    [
      'too much time for a question',
      { trigger_type: 'before_buyer_dialled', timeout_seconds: 4 },
      'timeout_seconds',
    ],
    ['a redirect as success', { success_codes: [200, 302] }, 'success_codes'],
    ['two addresses', { alert_email: 'a@b.example, c@d.example' }, 'alert_email'],
    ['a malformed filter', { record_token_filter_list: ['=x'] }, 'record_token_filter_list'],
  ])('with %s', async (_, fields, field) => {
    expect(Object.keys(await post(fields)).map((name) => name.split(/[.[]/)[0])).toEqual([field]);
  });

  test('and takes its defaults back from blanks', async () => {
    const made = await hook('before_buyer_dialled', {
      retries: 3,
      success_codes: [202],
      method: 'put',
    });
    const { outgoing_webhook } = await ok('put', `outgoing_webhooks/${made.id}`, {
      trigger_type: 'manual',
      retries: '',
      success_codes: '',
      method: null,
      timeout_seconds: '',
    });
    expect(outgoing_webhook).toMatchObject({
      trigger_type: 'manual',
      retries: 9,
      success_codes: [],
      method: 'post',
      timeout_seconds: 15,
      secret_version: 1,
    });
    expect(outgoing_webhook).not.toHaveProperty('secret');
  });
});
