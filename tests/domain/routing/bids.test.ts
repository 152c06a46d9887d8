import { ANSWERS, answerTogether } from '../../support/bidders';
import { bidding, dialed, toReasons } from '../../support/bidding';
import { CALLER } from '../../support/sellers';

// Buyers of type rtb are asked for a bid before they get a call, and pay what they have bid.

const here = bidding();
const { ok, later, buyer, bidder, shop, call, get, decided, explain, event, someone } = here;
const { bid, declines } = ANSWERS;
type Fields = Record<string, unknown>;

test('all bidders are asked at once, and the highest bid wins over what others pay', async () => {
  const ids = [
    await bidder('low'),
    await bidder('high'),
    await bidder('out'),
    await buyer({
      name: 'fixed',
      route_by_type: 'revenue',
      current_conversion_revenue: 20,
      current_conversion_duration: 60,
    }),
  ];
  const at = await shop(ids);
  const held = answerTogether(3);
  here.bidders.answer({
    low: held((res) => res.end('{"bid": 12}')),
    high: held((res) => res.end('{"bid": "$31.259", "number": "+12125550777", "duration": 30}')),
    out: held((res) => res.end('{"accept": "no", "bid": 90}')),
  });
  const session = await call(at);
  expect(here.bidders.listRequested()).toEqual(['high', 'low', 'out']);
  expect(session.instruction.dial).toMatchObject([{ buyer_id: ids[1], number: '+12125550777' }]);
  const decision = await decided(session.id);
  expect(decision.bids).toMatchObject([
    {
      buyer_id: ids[1],
      bid: 31.25,
      net_bid: 31.25,
      number: '+12125550777',
      duration: 30,
      kept: false,
    },
    { buyer_id: ids[0], bid: 12, duration: 0 },
  ]);
  expect(decision.candidates.map(({ name, rank }: Fields) => [name, rank])).toEqual([
    ['high', 1],
    ['fixed', 2],
    ['low', 3],
    ['out', null],
  ]);
  expect(toReasons(decision).out).toBe('bid_declined');
});

test('the bid is paid once, after its duration, even if it has expired by then', async () => {
  const id = await bidder('pays', {
    current_conversion_revenue: 3,
    current_conversion_duration: 1,
  });
  const at = await shop([id]);
  here.bidders.answer({ pays: bid(25.5, { duration: 30, expires_in: 1 }) });
  const session = await call(at);
  await event(session.id, { event: 'answered' });
  later(29);
  await event(session.id, { event: 'duration', duration: 29 });
  expect((await get(`calls/${session.id}`)).call).toMatchObject({ revenue: 0 });
  later(3);
  await event(session.id, { event: 'duration', duration: 32 });
  await event(session.id, { event: 'completed', duration: 40 });
  const paid = (await get(`calls/${session.id}`)).call;
  expect(paid).toMatchObject({ revenue: 25.5, buyer_converted: true });
  const conversions = await here.world.sql(
    'SELECT name, revenue::float8 FROM conversions WHERE call_id = $1',
    [session.id],
  );
  expect(conversions).toEqual([{ name: 'Bid', revenue: 25.5 }]);
  expect((await get(`buyers/${id}`)).buyer).toMatchObject({
    revenue_daily_used: 25.5,
    buyer_conversion_daily_used: 1,
    concurrency_cap_used: 0,
  });
});

test('without a duration the bid is paid as soon as the buyer takes the call, not before', async () => {
  const at = await shop([await bidder('prompt')]);
  here.bidders.answer({ prompt: bid(7) });
  const lost = await call(at, someone());
  await event(lost.id, { event: 'no_answer' });
  expect((await get(`calls/${lost.id}`)).call.revenue).toBe(0);
  const answeredCall = await call(at, someone());
  await event(answeredCall.id, { event: 'answered' });
  expect((await get(`calls/${answeredCall.id}`)).call.revenue).toBe(7);
});

test('a cap of dollars counts the bid while the call is under way', async () => {
  const id = await bidder('capped', { revenue_daily_limit: 50 });
  const at = await shop([id]);
  here.bidders.answer({ capped: bid(40, { duration: 10 }) });
  expect(dialed(await call(at, someone()))).toEqual(['capped']);
  const second = await call(at, someone());
  expect(second.instruction.action).toBe('hang_up');
  expect(toReasons(await decided(second.id))).toEqual({ capped: 'cap_reached' });
});

test('a bid is kept for its caller and offer until it expires; an explanation asks nobody', async () => {
  const id = await bidder('kept');
  const [at, otherShop] = [await shop([id]), await shop([id])];
  expect(toReasons(await explain(at))).toEqual({ kept: 'bid_not_asked' });
  here.bidders.answer({ kept: bid(11, { expires_in: 90 }) });
  await call(at);
  later(89);
  expect((await explain(at)).bids).toMatchObject([{ buyer_id: id, bid: 11, kept: true }]);
  const secondCall = await call(at);
  expect((await decided(secondCall.id)).bids).toMatchObject([{ bid: 11, kept: true }]);
  expect(here.bidders.listRequested()).toEqual(['kept']);
  await call(otherShop);
  await call(at, someone());
  expect(here.bidders.listRequested()).toHaveLength(3);
  later(1);
  expect(toReasons(await explain(at))).toEqual({ kept: 'bid_not_asked' });
  await call(at);
  expect(here.bidders.listRequested()).toHaveLength(4);
});

test('of callers who withhold their number no bid is kept', async () => {
  const at = await shop([await bidder('blind')]);
  here.bidders.answer({ blind: bid(6) });
  for (const times of [1, 2]) {
    const body = { offer_id: at.offer, caller_number: 'anonymous' };
    expect(dialed((await ok('call_sessions', body)).call_session)).toEqual(['blind']);
    expect(here.bidders.listRequested()).toHaveLength(times);
  }
  expect(JSON.parse(here.bidders.received[0]!.body).data.call.caller_number).toBeNull();
});

test('a bidder that fails five times within a minute is not asked for a minute', async () => {
  const at = await shop([await bidder('flaky'), await buyer({ name: 'sure', tier: 5 })]);
  here.bidders.answer({ flaky: 500 });
  for (let n = 0; n < 5; n++) {
    later(10);
    expect(toReasons(await decided((await call(at, someone())).id)).flaky).toBe('bid_failed');
  }
  here.bidders.answer({ flaky: bid(9) });
  later(59);
  const { candidates } = await decided((await call(at, someone())).id);
  expect(candidates.find(({ name }: Fields) => name === 'flaky')).toMatchObject({
    reason: 'bidder_suspended',
    details: { resumes_at: '2026-06-01T12:31:50.000Z' },
  });
  expect(here.bidders.listRequested()).toEqual([]);
  later(1);
  expect(dialed(await call(at, someone()))).toEqual(['flaky']);
});

test('only bidders that could come first are asked; the others once it is their turn', async () => {
  const at = await shop([
    await buyer({ name: 'sure', tier: 2 }),
    await bidder('before', { route_by_type: 'tier', tier: 1 }),
    await bidder('beside', { route_by_type: 'tier', tier: 2 }),
    await bidder('behind', { route_by_type: 'tier', tier: 3 }),
    await bidder('closed', { paused: true }),
  ]);
  here.bidders.answer({ before: declines, beside: declines, behind: bid(4) });
  const session = await call(at);
  expect(dialed(session)).toEqual(['sure']);
  expect(here.bidders.listRequested()).toEqual(['before', 'beside']);
  expect(toReasons(await decided(session.id))).toMatchObject({
    behind: 'bid_not_asked',
    closed: 'paused',
  });
  expect(dialed(await event(session.id, { event: 'busy' }))).toEqual(['behind']);
});

test('a request with an Idempotency-Key asks once', async () => {
  const at = await shop([await bidder('once')]);
  here.bidders.answer({ once: bid(5) });
  const request = {
    body: { offer_id: at.offer, caller_number: CALLER },
    headers: { 'Idempotency-Key': 'bid-once' },
  };
  const first = await here.world.company.api('post', 'call_sessions', request);
  const second = await here.world.company.api('post', 'call_sessions', request);
  expect(dialed(first.body.call_session)).toEqual(['once']);
  expect(second.body).toEqual(first.body);
  expect(here.bidders.listRequested()).toEqual(['once']);
});

test('no lock and no connection is held while bidders think', async () => {
  const slow = await shop([await bidder('slow')]);
  const at = await shop([await buyer({ name: 'sure' })]);
  let answer!: () => void;
  const requestArrived = new Promise<void>((done) => {
    here.bidders.answer({ slow: (res) => (done(), (answer = () => void res.end('{"bid": 3}'))) });
  });
  const waiting = call(slow);
  await requestArrived;
  const open = await here.world.sql(
    `SELECT 1 FROM pg_stat_activity
     WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
  );
  expect(open).toEqual([]);
  expect(dialed(await call(at, someone()))).toEqual(['sure']);
  answer();
  expect(dialed(await waiting)).toEqual(['slow']);
});

test('a simulation asks nobody: bidders pay what they really bid for the call, or take none', async () => {
  const id = await bidder('replayed', { concurrency_cap_limit: 1 });
  const lowerBidder = await bidder('lower');
  const at = await shop([id, lowerBidder]);
  const from = here.time.read().toISOString();
  here.bidders.answer({ replayed: bid(20, { duration: 10 }), lower: bid(5, { duration: 10 }) });
  const session = await call(at);
  await event(session.id, { event: 'answered' });
  later(30);
  await event(session.id, { event: 'completed', duration: 30 });
  later(60);
  here.bidders.answer({});
  const changes = [{ buyer_id: id, paused: true }];
  const period = { offer_id: at.offer, from, to: here.time.read().toISOString() };
  const { simulation } = await ok('routing/simulate', { ...period, changes });
  const readRevenues = (buyerId: number) => {
    const row = simulation.buyers.find((item: Fields) => item.buyer_id === buyerId);
    return [row.as_configured.revenue, row.as_changed.revenue];
  };
  expect([readRevenues(id), readRevenues(lowerBidder)]).toEqual([
    [20, 0],
    [0, 5],
  ]);
  expect(simulation.assumptions.join()).toContain('Nobody is asked for a bid');
  expect(here.bidders.listRequested()).toEqual([]);
});
