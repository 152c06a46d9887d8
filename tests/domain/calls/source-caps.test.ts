import { endStaleCalls } from '../../../src/domain/calls/end-stale-calls';
import { repetitions } from '../../support/repetitions';
import { CALLER, sellers } from '../../support/sellers';

// Caps of traffic sources: they concern a call as a whole, whichever buyers it rings.

const here = sellers();
const { ok, buyer, shop, ping, post, call, later, sweep } = here;

type Fields = Record<string, unknown>;
const CAP = repetitions(15, 50);
const CALLS = 4 * CAP;
/** A buyer that pays $10 for a minute. */
const PAYS = { current_conversion_revenue: 10, current_conversion_duration: 60 };

const createSource = async (fields: Fields): Promise<number> =>
  (await ok('traffic_sources', { name: 'Source', ...fields })).traffic_source.id;
const change = (id: number, fields: Fields) => ok(`traffic_sources/${id}`, fields, 'put');
const loadSource = async (id: number): Promise<Fields> =>
  (await here.world.company.api('get', `traffic_sources/${id}`)).body.traffic_source;
const begin = async (fields: Fields) =>
  (await ok('call_sessions', { caller_number: CALLER, ...fields })).call_session;
const report = (id: number, event: string, fields: Fields = {}) =>
  ok(`call_sessions/${id}/events`, { event, ...fields });
const loadHeld = async () =>
  (
    await here.world.sql<Fields>(
      `SELECT
        concurrency_cap_used AS slots, pending_connections AS connections,
        pending_conversions AS conversions, pending_revenue::float8 AS revenue
      FROM call_limits WHERE company_id = $1 AND traffic_source_id IS NOT NULL`,
      [here.world.company.id],
    )
  )[0];

/** Begins calls at the same time: by batches, and every fifth in a transaction of its own. */
async function callAll(offerId: number, trafficSourceId: number): Promise<string[]> {
  const sessions = await Promise.all(
    Array.from({ length: CALLS }, async (_, n) => {
      const callerNumber = `+1310555${String(n).padStart(4, '0')}`;
      const body = {
        offer_id: offerId,
        traffic_source_id: trafficSourceId,
        caller_number: callerNumber,
      };
      const res = await here.world.company.api('post', 'call_sessions', {
        body,
        ...(n % 5 === 0 && { headers: { 'Idempotency-Key': `call-${n}` } }),
      });
      if (res.status !== 201) throw new Error(res.text);
      return res.body.call_session.instruction as { action: string; reason: string | null };
    }),
  );
  return sessions.map(({ action, reason }) => (action === 'dial' ? 'dial' : String(reason)));
}

describe(`of ${CALLS} calls of a source at once, exactly ${CAP} go to buyers`, () => {
  test.each([
    ['attempt_daily_limit', CAP, 'traffic_source_cap_reached'],
    ['connection_hourly_limit', CAP, 'traffic_source_cap_reached'],
    ['buyer_conversion_monthly_limit', CAP, 'traffic_source_cap_reached'],
    ['revenue_total_limit', CAP * 10, 'traffic_source_cap_reached'],
    ['earned_revenue_daily_limit', CAP * 10, 'traffic_source_cap_reached'],
    ['concurrency_cap_limit', CAP, 'traffic_source_concurrency_full'],
  ])('with %s %d: the others are refused with %s', async (limit, value, reason) => {
    const { offer } = await shop([await buyer(PAYS), await buyer(PAYS)]);
    const actions = await callAll(offer, await createSource({ [limit]: value }));
    const count = (target: string) => actions.filter((action) => action === target).length;
    expect([count('dial'), count(reason)]).toEqual([CAP, CALLS - CAP]);
    const isMoney = limit.includes('revenue');
    expect(await loadHeld()).toEqual({
      slots: CAP,
      connections: CAP,
      conversions: CAP,
      revenue: isMoney ? CAP * 10 : 0,
    });
  });
});

test('a source without limits has no row that its calls could wait for', async () => {
  const source = await createSource({});
  const { offer } = await shop([await buyer()]);
  await begin({ offer_id: offer, traffic_source_id: source });
  expect(await loadHeld()).toBeUndefined();
  await change(source, { attempt_daily_limit: 5 });
  expect(await loadSource(source)).toMatchObject({ attempt_daily_used: 0, attempt_daily_limit: 5 });
  await begin({ offer_id: offer, traffic_source_id: source });
  await change(source, { attempt_daily_limit: null });
  await begin({ offer_id: offer, traffic_source_id: source });
  expect(await loadSource(source)).toMatchObject({
    attempt_daily_used: 1,
    attempt_daily_limit: null,
  });
});

test('a call that no buyer can take counts as an attempt, and takes no slot', async () => {
  const source = await createSource({ attempt_total_limit: 2, concurrency_cap_limit: 1 });
  const { offer } = await shop([await buyer({ paused: true })]);
  for (const reason of ['no_buyer_available', 'no_buyer_available', 'traffic_source_cap_reached'])
    expect((await begin({ offer_id: offer, traffic_source_id: source })).instruction).toMatchObject(
      { reason },
    );
  expect(await loadSource(source)).toMatchObject({
    attempt_total_used: 2,
    concurrency_cap_used: 0,
    maxed_out: true,
    maxed_out_by: 'attempt_total',
  });
  await change(source, { reset_total_caps: true });
  expect(await loadSource(source)).toMatchObject({ attempt_total_used: 0, maxed_out: false });
});

test("a call that a source's cap keeps from buyers gets what the offer does without one", async () => {
  const source = await createSource({ attempt_total_limit: 0 });
  const { offer } = await shop([await buyer()]);
  await ok(`offers/${offer}`, { fallback_type: 'message', fallback_message: 'Sorry' }, 'put');
  const request = { offer_id: offer, traffic_source_id: source };
  expect((await begin(request)).instruction).toMatchObject({
    action: 'fallback',
    reason: 'traffic_source_cap_reached',
  });
  const { decision } = await ok('routing/explain', request);
  expect(decision).toMatchObject({
    reason: 'traffic_source_cap_reached',
    message: 'the total cap on attempts of the traffic source allows none',
  });
  expect(decision.candidates[0]).toMatchObject({
    reason: 'traffic_source_cap_reached',
    details: { cap: 'attempt_total', used: 0, limit: 0, resets_at: null },
  });
});

describe('its slot', () => {
  const world = async () => {
    const source = await createSource({ concurrency_cap_limit: 5, revenue_total_limit: 1000 });
    const at = await shop([await buyer(PAYS), await buyer(PAYS)]);
    const { id } = await begin({ offer_id: at.offer, traffic_source_id: source });
    return { source, id };
  };
  const NOTHING = { slots: 0, connections: 0, conversions: 0, revenue: 0 };
  const ALL = { slots: 1, connections: 1, conversions: 1, revenue: 10 };

  test('stays while the call rings the next buyer, and counts the call once', async () => {
    const { source, id } = await world();
    await report(id, 'no_answer');
    expect(await loadHeld()).toEqual(ALL);
    expect(await loadSource(source)).toMatchObject({ attempt_total_used: 1 });
    await report(id, 'no_answer');
    expect(await loadHeld()).toEqual(NOTHING);
  });

  test('is released when a connected call ends; what was used is counted', async () => {
    const { source, id } = await world();
    await change(source, { payouts: [{ payout_type: 'percentage', amount: 40 }] });
    await report(id, 'answered');
    expect(await loadHeld()).toEqual({ ...ALL, connections: 0 });
    await report(id, 'completed', { duration: 90 });
    expect(await loadHeld()).toEqual(NOTHING);
    const used = {
      connection_daily_used: 1,
      buyer_conversion_daily_used: 1,
      revenue_daily_used: 10,
      earned_revenue_daily_used: 6,
    };
    expect(await loadSource(source)).toMatchObject(used);
    await ok(`calls/${id}`, { offer_converted: false });
    expect(await loadSource(source)).toMatchObject({
      ...used,
      buyer_conversion_daily_used: 0,
      earned_revenue_daily_used: 10,
    });
    await ok(`calls/${id}`, { buyer_converted: false });
    expect(await loadSource(source)).toMatchObject({
      revenue_daily_used: 0,
      connection_daily_used: 1,
    });
  });

  test('of a call that is only paid by the buyer counts no conversion of the source', async () => {
    const { source, id } = await world();
    await report(id, 'answered');
    await report(id, 'completed', { duration: 90 });
    expect(await loadSource(source)).toMatchObject({
      buyer_conversion_total_used: 0,
      revenue_total_used: 10,
    });
  });

  test('of a call that died is released once', async () => {
    await world();
    later(3600);
    // Calls of other tests have died too.
    const end = () => Promise.all([endStaleCalls(here.world.deps), endStaleCalls(here.world.deps)]);
    while ((await end()).some((ended) => ended > 0));
    expect(await loadHeld()).toEqual(NOTHING);
  });
});

describe('a ping', () => {
  const world = async () => {
    const source = await createSource({ attempt_total_limit: 1, concurrency_cap_limit: 1 });
    return { source, at: await shop([await buyer(PAYS)], { traffic_source_id: source }) };
  };

  test('reserves the caps of its source; the call that takes it over counts once', async () => {
    const { source, at } = await world();
    const { try_all_buyers_ping_id: pingId } = await ping(at);
    expect((await ping(at, { caller_id: '+13105550199' })).status).toBe(
      'traffic_source_cap_reached',
    );
    await post(at, { ping_id: pingId });
    expect((await call(at)).instruction.action).toBe('dial');
    expect(await loadSource(source)).toMatchObject({
      attempt_total_used: 1,
      concurrency_cap_used: 1,
    });
  });

  test('that no call follows gives them back', async () => {
    const { source, at } = await world();
    await ping(at);
    later(3600);
    await sweep();
    expect(await loadSource(source)).toMatchObject({
      attempt_total_used: 0,
      concurrency_cap_used: 0,
    });
    expect((await ping(at)).status).toBe('accepted');
  });

  test('that no buyer takes counts nothing', async () => {
    const { source } = await world();
    const at = await shop([await buyer({ paused: true })], { traffic_source_id: source });
    expect((await ping(at)).status).toBe('no_buyer_available');
    expect(await loadSource(source)).toMatchObject({ attempt_total_used: 0 });
  });
});

describe('buyers of a source', () => {
  test('blocked ones get none of its calls, others get them', async () => {
    const [firstBuyer, secondBuyer] = [await buyer({ tier: 1 }), await buyer({ tier: 2 })];
    const { offer } = await shop([firstBuyer, secondBuyer]);
    const source = await createSource({ blocked_buyer_ids: [firstBuyer] });
    const dialed = async (trafficSourceId: number | null) =>
      (await begin({ offer_id: offer, traffic_source_id: trafficSourceId })).instruction.dial.map(
        ({ buyer_id }: { buyer_id: number }) => buyer_id,
      );
    expect([await dialed(null), await dialed(source)]).toEqual([[firstBuyer], [secondBuyer]]);
    const request = { offer_id: offer, traffic_source_id: source };
    const reasons = async () =>
      Object.fromEntries(
        (await ok('routing/explain', request)).decision.candidates.map(
          ({ buyer_id, reason }: { buyer_id: number; reason: string | null }) => [buyer_id, reason],
        ),
      );
    expect(await reasons()).toEqual({
      [firstBuyer]: 'blocked_for_traffic_source',
      [secondBuyer]: null,
    });
    await change(source, { blocked_buyer_ids: [], allowed_buyer_ids: [firstBuyer] });
    expect(await reasons()).toEqual({
      [firstBuyer]: null,
      [secondBuyer]: 'not_allowed_for_traffic_source',
    });
    // Also the buyers that are dialed next.
    const { id } = await begin(request);
    expect((await report(id, 'no_answer')).call_session.instruction.reason).toBe(
      'no_buyer_available',
    );
    await change(source, { allowed_buyer_ids: null });
    expect(await reasons()).toEqual({ [firstBuyer]: null, [secondBuyer]: null });
  });

  test('must be buyers of the company', async () => {
    const otherCompany = await here.world.addCompany();
    const res = await otherCompany.api('post', 'buyers', { body: { number: '+12125550101' } });
    const id = res.body.buyer.id as number;
    for (const field of ['blocked_buyer_ids', 'allowed_buyer_ids']) {
      const refused = await here.world.company.api('post', 'traffic_sources', {
        body: { name: 'Source', [field]: [id] },
      });
      expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, [field]]);
    }
  });
});

describe('what a source is paid', () => {
  const paid = async (payouts: Fields[]) => {
    const source = await createSource({ payouts: [{ payout_type: 'fixed', amount: 3 }] });
    const { offer } = await shop([await buyer(PAYS)]);
    const otherSource = await createSource({ name: 'Other' });
    const terms = payouts.map(({ of, ...term }) => ({
      ...term,
      traffic_source_id: { own: source, other: otherSource, all: null }[
        of as 'own' | 'other' | 'all'
      ],
    }));
    await ok(`offers/${offer}`, { payouts: terms }, 'put');
    const { id } = await begin({ offer_id: offer, traffic_source_id: source });
    await report(id, 'answered');
    await report(id, 'completed', { duration: 90 });
    return (await here.world.company.api('get', `calls/${id}`)).body.call.payout;
  };
  const FIVE = { payout_type: 'fixed', amount: 5 };

  test.each([
    ['no terms', [], 3],
    ['terms for another source', [{ of: 'other', ...FIVE }], 3],
    ['terms for the source', [{ of: 'own', ...FIVE }], 5],
    ['terms for all sources', [{ of: 'all', ...FIVE }], 5],
    [
      'terms for the source that the call does not meet',
      [{ of: 'own', ...FIVE, paid_for: 'duration', duration: 600 }],
      0,
    ],
  ])('by an offer with %s', async (_, payouts, amount) => {
    expect(await paid(payouts)).toBe(amount);
  });
});
