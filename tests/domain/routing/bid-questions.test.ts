import { Webhook } from 'standardwebhooks';
import { ANSWERS } from '../../support/bidders';
import { bidding, dialed, toReasons } from '../../support/bidding';
import { CALLER } from '../../support/sellers';

// Requests to bidders, the meaning of their answers, and the share of sellers of calls in their
// bids.

const here = bidding();
const { ok, later, buyer, bidder, shop, ping, post, call, get, decided, event } = here;
const { bid, declines } = ANSWERS;
type Fields = Record<string, unknown>;
const collectFaults = async (fields: Fields) =>
  (await here.world.company.api('post', 'buyers', { body: { name: 'B', ...fields } })).body.errors;

test('whoever fails to answer as agreed is left out, with what was wrong', async () => {
  const wrong: Record<string, [(typeof ANSWERS)['hangs'], string]> = {
    hanging: [ANSWERS.hangs, 'timeout'],
    stalling: [ANSWERS.stalls, 'timeout'],
    closing: [ANSWERS.closes, 'connection closed'],
    broken: [500, 'answered 500'],
    moved: [ANSWERS.redirects, 'answered 302'],
    xml: [ANSWERS.not_json, 'has no bid'],
    huge: [ANSWERS.huge, 'has no bid'],
    empty: [ANSWERS.json({}), 'has no bid'],
    negative: [bid(-1), 'the bid is not a number from 0 to 10000'],
    cents: [bid(1_000_000), 'the bid is not a number from 0 to 10000'],
    words: [bid('a lot'), 'the bid is not a number from 0 to 10000'],
    dialing: [bid(9, { number: '911' }), 'neither + and digits nor a SIP address'],
    forever: [bid(9, { duration: 'always' }), 'the duration is not a number'],
  };
  const names = Object.keys(wrong);
  const ids = await Promise.all(
    names.map((name) => bidder(name, { ping_timeout_seconds: /ing$/.test(name) ? 0.5 : 5 })),
  );
  const at = await shop([...ids, await buyer({ name: 'sure', tier: 5 })]);
  here.bidders.answer(Object.fromEntries(names.map((name) => [name, wrong[name]![0]])));
  const session = await call(at);
  expect(dialed(session)).toEqual(['sure']);
  const { candidates } = await decided(session.id);
  for (const name of names)
    expect(candidates.find((candidate: Fields) => candidate.name === name)).toMatchObject({
      reason: 'bid_failed',
      details: { fault: expect.stringContaining(wrong[name]![1]) },
    });
  expect(here.bidders.listRequested()).toEqual(names.toSorted());
});

test('204, false and what is written for no decline', async () => {
  const answers = {
    none: ANSWERS.no_content,
    no: declines,
    words: ANSWERS.json({ accept: ' Rejected ', bid: 8 }),
    zero: ANSWERS.json({ accept: 0, bid: 8 }),
  };
  const names = Object.keys(answers);
  const at = await shop(await Promise.all(names.map((name) => bidder(name))));
  here.bidders.answer(answers);
  const reasons = toReasons(await decided((await call(at)).id));
  expect(reasons).toEqual(Object.fromEntries(names.map((name) => [name, 'bid_declined'])));
});

describe('a seller', () => {
  test('gets its part of the best bid, and the call goes to the bidder unasked', async () => {
    const ids = [await bidder('seven'), await bidder('nine'), await buyer({ name: 'sure' })];
    const source = (await ok('traffic_sources', { name: 'Partner' })).traffic_source.id;
    const at = await shop(ids, { traffic_source_id: source });
    const payouts = [{ payout_type: 'percentage', amount: 50 }];
    await ok(`offers/${at.offer}`, { payouts }, 'put');
    await here.buyNumber(at);
    here.bidders.answer({ seven: bid(70), nine: bid(90, { duration: 45 }) });
    const pinged = await ping(at);
    expect(pinged).toMatchObject({ status: 'accepted', bid_price: 45 });
    expect(pinged.buyers).toMatchObject([
      { buyer_id: ids[1], bid_price: 45, bid_duration: 45, held: true },
      { buyer_id: ids[0], bid_price: 35 },
      { buyer_id: ids[2] },
    ]);
    const { ping_id } = pinged.buyers[0];
    expect(await post(at, { ping_id })).toMatchObject({ buyer_id: ids[1], bid_price: 45 });
    const session = await call(at);
    expect(dialed(session)).toEqual(['nine']);
    expect((await decided(session.id)).bids).toMatchObject([
      { buyer_id: ids[1], bid: 90, net_bid: 45, kept: true },
      { buyer_id: ids[0] },
    ]);
    expect(here.bidders.listRequested()).toEqual(['nine', 'seven']);
    await event(session.id, { event: 'answered' });
    await event(session.id, { event: 'completed', duration: 50 });
    expect((await get(`calls/${session.id}`)).call).toMatchObject({ revenue: 90, payout: 45 });
  });

  test('is held a bidder no longer than its bid stands, and asks again after', async () => {
    const id = await bidder('brief');
    const at = await shop([id], { hold_seconds: 60 });
    await here.buyNumber(at);
    here.bidders.answer({ brief: bid(10, { expires_in: 20 }) });
    const { expires_at, try_all_buyers_ping_id: pingId } = await ping(at);
    expect(Date.parse(expires_at) - here.time.read().getTime()).toBe(20_000);
    later(5);
    expect((await post(at, { ping_id: pingId })).expires_at).toBe(expires_at);
    later(16);
    await here.sweep();
    here.bidders.answer({ brief: bid(12, { expires_in: 20 }) });
    expect(await post(at, { ping_id: pingId })).toMatchObject({ status: 'accepted', late: true });
    expect(here.bidders.listRequested()).toEqual(['brief']);
    here.bidders.answer({ brief: declines });
    later(61);
    expect((await ping(at)).status).toBe('no_buyer_available');
  });
});

test('the question is filled with tokens and signed; answers are read where they are said to be', async () => {
  const id = await bidder('templated', {
    bid_request: {
      url: `${here.bidders.buildUrl('templated')}?zip={{zip}}`,
      headers: { 'X-Api-Key': 'k-123', 'Content-Type': 'application/json' },
      body: '{"from":"{{caller_id}}","state":"{{state}}"}',
    },
    bid_response: {
      accept: '$.result.status',
      bid: "$.offers[0]['price-usd']",
      duration: '=~pays after ([0-9]+)',
      expires_in: '$.ttl',
    },
    reset_bid_secret: true,
  });
  const { bid_secret } = await ok(`buyers/${id}`, { reset_bid_secret: true }, 'put');
  expect((await get(`buyers/${id}`)).buyer.bid_secret).toBeUndefined();
  const at = await shop([id]);
  const said = { result: { status: 'yes' }, offers: [{ 'price-usd': '8.50' }], ttl: 30 };
  here.bidders.answer({ templated: ANSWERS.json({ ...said, note: 'pays after 75 seconds' }) });
  const body = { offer_id: at.offer, caller_number: CALLER, tokens: { zip: '90 0', state: '"CA' } };
  const session = (await ok('call_sessions', body)).call_session;
  const [request] = here.bidders.received;
  expect(request).toMatchObject({ path: '/templated?zip=90%200', method: 'POST' });
  expect(request!.headers['x-api-key']).toBe('k-123');
  expect(JSON.parse(request!.body)).toEqual({ from: CALLER, state: '"CA' });
  const headers = request!.headers as Record<string, string>;
  expect(headers['webhook-signature']!.split(' ')).toHaveLength(2);
  expect((await decided(session.id)).bids).toMatchObject([{ bid: 8.5, duration: 75 }]);
  const key = bid_secret as string;
  const signedAt = new Date(Number(headers['webhook-timestamp']) * 1000);
  jest.useFakeTimers({ now: signedAt, doNotFake: ['nextTick', 'setImmediate', 'setTimeout'] });
  try {
    new Webhook(key).verify(request!.body, headers);
  } finally {
    jest.useRealTimers();
  }
  const logs = (await get(`change_logs?record_id=${id}`)).change_logs;
  expect(JSON.stringify(logs)).not.toContain('k-123');
});

test('settings that cannot work are refused on their field', async () => {
  const url = 'https://bids.example.com/ask';
  expect(await collectFaults({ buyer_type: 'rtb' })).toHaveProperty('bid_request');
  const refused: [Fields, string][] = [
    [{ bid_request: { url: 'http://10.0.0.1/' } }, 'bid_request.url'],
    [{ bid_request: { url: 'https://{{host}}/' } }, 'bid_request.url'],
    [{ bid_request: { url, headers: { 'webhook-id': '1' } } }, 'bid_request.headers'],
    [{ bid_response: { bid: '$..price' } }, 'bid_response.bid'],
    [{ bid_response: { accept: '=~(' } }, 'bid_response.accept'],
    [{ ping_timeout_seconds: 0.1 }, 'ping_timeout_seconds'],
    [{ ping_timeout_seconds: 6 }, 'ping_timeout_seconds'],
  ];
  for (const [fields, field] of refused)
    expect(await collectFaults(fields)).toHaveProperty([field]);
  const id = await buyer({ bid_request: { url }, ping_timeout_seconds: 0.25 });
  await ok(`buyers/${id}`, { buyer_type: 'rtb' }, 'put');
  const res = await here.world.company.api('put', `buyers/${id}`, { body: { bid_request: null } });
  expect(res.body.errors).toHaveProperty('bid_request');
  expect((await get(`buyers/${id}`)).buyer).toMatchObject({
    buyer_type: 'rtb',
    ping_timeout_seconds: 0.25,
    bid_request: { url },
  });
});
