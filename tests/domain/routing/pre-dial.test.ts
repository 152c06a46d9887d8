import { startReceiver, checkPayload, type Answer } from '../../support/receiver';
import { Webhook } from 'standardwebhooks';
import { createWorld, type World } from '../../support/world';

let world: World;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
/** The answer about each buyer, by its name; 200 by default. */
let answers: Record<string, Answer> = {};
beforeAll(async () => {
  receiver = await startReceiver(({ body }) => answers[JSON.parse(body).data.buyer.name] ?? 200);
  world = await createWorld({ environment: { WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' } });
});
afterAll(async () => {
  await world.close();
  await receiver.close();
});
beforeEach(() => {
  answers = {};
  receiver.received.length = 0;
});

const ok = async (
  method: 'get' | 'post' | 'put' | 'delete',
  path: string,
  body?: object,
  headers: Record<string, string> = {},
) => {
  const res = await world.company.api(method, path, { ...(body && { body }), headers });
  if (res.status >= 300) throw new Error(`${path}: ${res.text}`);
  return res.body;
};
const json =
  (value: object): Answer =>
  (res) =>
    void res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
const buyer = async (name: string, tier: number) =>
  (await ok('post', 'buyers', { name, number: '+12125550199', tier, attempt_total_limit: 100 }))
    .buyer.id as number;
const loadUsage = async (id: number) =>
  (await ok('get', `buyers/${id}`)).buyer.attempt_total_used as number;
let numbers = 2000;
const begin = async (offerId: number, headers: Record<string, string> = {}) =>
  (
    await ok(
      'post',
      'call_sessions',
      { offer_id: offerId, caller_number: `+1310557${++numbers}`, tokens: { state: 'CA' } },
      headers,
    )
  ).call_session;
const loadDecision = async (id: number) =>
  (await ok('get', `calls/${id}/decision`)).decisions.at(-1).candidates as Record<
    string,
    unknown
  >[];
/** An offer of three buyers, one after the other, and a webhook that is asked about each. */
const shop = async (fields: object = {}) => {
  const buyers = [await buyer('first', 1), await buyer('second', 2), await buyer('third', 3)];
  const { id: offer } = (await ok('post', 'offers', { name: 'Offer', buyer_ids: buyers })).offer;
  const owner = { owner_type: 'Offer', owner_id: offer };
  const createdWebhook = await ok('post', 'outgoing_webhooks', {
    name: 'Ask',
    trigger_type: 'before_buyer_dialled',
    url: receiver.url,
    ...owner,
    ...fields,
  });
  return {
    buyers,
    offer,
    webhook: createdWebhook.outgoing_webhook.id as number,
    secret: createdWebhook.secret as string,
  };
};
const dialed = (session: { instruction: { dial?: { buyer_id: number }[] } }) =>
  session.instruction.dial?.map(({ buyer_id }) => buyer_id);

test('a vetoed buyer is not dialed; the decision has the reason; caps are unchanged', async () => {
  const { buyers, offer, webhook, secret } = await shop();
  answers = { first: json({ accept: false, reason: 'credit line is used up' }), second: 403 };
  const call = await begin(offer);
  expect(dialed(call)).toEqual([buyers[2]]);
  const candidates = await loadDecision(call.id);
  expect(candidates.filter(({ reason }) => reason === 'vetoed')).toMatchObject([
    {
      buyer_id: buyers[0],
      details: { outgoing_webhook_id: webhook, veto: 'credit line is used up' },
      message: expect.stringContaining('credit line'),
    },
    { buyer_id: buyers[1], details: { outgoing_webhook_id: webhook, veto: 'answered 403' } },
  ]);
  expect(await Promise.all(buyers.map(loadUsage))).toEqual([0, 0, 1]);
  const { body, headers } = receiver.received[0]!;
  expect(checkPayload(body)).toMatchObject({
    data: { call: { uuid: call.uuid, token_values: { state: 'CA' } }, buyer: { id: buyers[0] } },
  });
  new Webhook(secret).verify(body, headers as Record<string, string>);
  const { webhook_logs } = await ok('get', `webhook_logs?outgoing_webhook_id=${webhook}`);
  expect(webhook_logs).toMatchObject([
    { buyer_id: buyers[0], call_id: call.id, notes: 'vetoed: credit line is used up', code: 200 },
    { buyer_id: buyers[1], call_id: call.id, notes: 'vetoed: answered 403', code: 403 },
    { buyer_id: buyers[2], call_id: call.id, notes: 'the buyer may be dialed', code: 200 },
  ]);
  expect(
    (await world.company.api('post', `webhook_logs/${webhook_logs[0].id}/redeliver`)).body.errors,
  ).toEqual({
    id: [expect.stringContaining('sent only once')],
  });
});

test('a receiver that is down or answers anything else lets the buyer be dialed', async () => {
  const { buyers, offer, webhook } = await shop({ timeout_seconds: 1 });
  for (const answer of [500, 302, () => undefined, json({ accept: 'no' })] as Answer[]) {
    answers = { first: answer };
    expect(dialed(await begin(offer))).toEqual([buyers[0]]);
  }
  const { webhook_logs } = await ok('get', `webhook_logs?outgoing_webhook_id=${webhook}`);
  expect(
    webhook_logs.map(({ code, success }: { code: number; success: boolean }) => [code, success]),
  ).toEqual([
    [500, false],
    [302, false],
    [null, false],
    [200, true],
  ]);
  expect(webhook_logs[2].notes).toContain('timeout');
});

test('the next buyer is asked about too, after the first has not taken the call', async () => {
  const { buyers, offer } = await shop();
  answers = { second: 404 };
  const call = await begin(offer);
  expect(dialed(call)).toEqual([buyers[0]]);
  expect(receiver.received).toHaveLength(1);
  const { call_session } = await ok('post', `call_sessions/${call.id}/events`, { event: 'busy' });
  expect(dialed(call_session)).toEqual([buyers[2]]);
  expect(receiver.received.map(({ body }) => JSON.parse(body).data.buyer.name)).toEqual([
    'first',
    'second',
    'third',
  ]);
  expect(await Promise.all(buyers.map(loadUsage))).toEqual([1, 0, 1]);
});

test('a request with an Idempotency-Key asks once, and no buyer is dialed twice', async () => {
  const { buyers, offer } = await shop();
  answers = { first: 403 };
  const call = await begin(offer, { 'Idempotency-Key': 'asked-once' });
  expect(dialed(call)).toEqual([buyers[1]]);
  const next = await ok(
    'post',
    `call_sessions/${call.id}/events`,
    { event: 'no_answer' },
    { 'Idempotency-Key': 'asked-next' },
  );
  expect(dialed(next.call_session)).toEqual([buyers[2]]);
  expect(await Promise.all(buyers.map(loadUsage))).toEqual([0, 1, 1]);
});

test('no lock is held while webhooks are asked: other calls dial the same buyer', async () => {
  const { buyers, offer } = await shop({
    record_token_filter_list: ['slow:1'],
    timeout_seconds: 3,
  });
  let answer!: () => void;
  const requestArrived = new Promise<void>((done) => {
    answers = { first: (res) => (done(), (answer = () => void res.writeHead(200).end())) };
  });
  const slow = world.company.api('post', 'call_sessions', {
    body: { offer_id: offer, caller_number: '+13105580001', tokens: { slow: '1' } },
  });
  const waiting = slow.then((res) => res.body.call_session);
  await requestArrived;
  expect(dialed(await begin(offer))).toEqual([buyers[0]]);
  answer();
  expect(dialed(await waiting)).toEqual([buyers[0]]);
});

test('a webhook that is created, paused or deleted counts from the next call on', async () => {
  const { buyers, offer, webhook } = await shop();
  answers = { first: 403 };
  expect(dialed(await begin(offer))).toEqual([buyers[1]]);
  await ok('put', `outgoing_webhooks/${webhook}`, { paused: true });
  expect(dialed(await begin(offer))).toEqual([buyers[0]]);
  await ok('put', `outgoing_webhooks/${webhook}`, { paused: false });
  expect(dialed(await begin(offer))).toEqual([buyers[1]]);
  await ok('delete', `outgoing_webhooks/${webhook}`);
  expect(dialed(await begin(offer))).toEqual([buyers[0]]);
});
