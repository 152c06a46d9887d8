import type { Tasks } from '../../../src/data/jobs/tasks';
import { readCall } from '../../../src/domain/calls/read-call';
import { readSession } from '../../../src/domain/calls/session';
import { playTestCall } from '../../../src/domain/telephony/play-sandbox-call';
import { eventually } from '../../support/engine-process';
import { listen, openStream } from '../../support/event-stream';
import type { Fields } from '../../support/records';
import { createMember } from '../../support/teams';
import { useWorld } from '../../support/use-world';
import { buildApp, caller } from '../../support/world';

// A test call takes the way of every other call, and is played without a telephone.

const world = useWorld({ fresh: 'company' });
const { api, ok, create } = world;
const CALLER = '+13105550188';

const createBuyer = (number: string, fields: Fields = {}) =>
  create('buyers', {
    ...{ name: number, number, current_conversion_revenue: 20, current_conversion_duration: 60 },
    ...fields,
  });
const createOffer = (buyerIds: number[], fields: Fields = {}) =>
  create('offers', { name: 'Auto', buyer_ids: buyerIds, ...fields });
const begin = (body: Fields) =>
  ok('post', 'call_sessions/test', { caller_number: CALLER, ...body });
const shown = async (id: number) => (await ok('get', `calls/${id}`)).call;
const events = async (id: number): Promise<string[]> =>
  (await ok('get', `calls/${id}/events?order=id`)).call_events.map(({ event }: Fields) => event);

/** The jobs that play test calls, taken from the queue. */
const takeJobs = async () =>
  (
    await world.sql<{ data: Tasks['play_test_call'] }>(
      `DELETE FROM jobs.job WHERE name = 'play_test_call' RETURNING data`,
    )
  ).map(({ data }) => data);
const play = async () => {
  for (const job of await takeJobs()) await playTestCall(job, world.deps);
};
/** Begins a test call, and plays it. */
const callAndPlay = async (body: Fields): Promise<Fields> => {
  const { call_session } = await begin(body);
  await play();
  return shown(call_session.id);
};

test('goes from buyer to buyer by their numbers, and is paid for the seconds they talk', async () => {
  const busy = await createBuyer('+12125550105', { tier: 1 });
  const taking = await createBuyer('+12125550122', { tier: 2, press_one_to_accept: true });
  const offer = await createOffer([busy, taking]);
  const source = await create('traffic_sources', { name: 'Search' });
  const { call_session, notice } = await begin({
    ...{ offer_id: offer, traffic_source_id: source, sub_id: 'ad 7', talk_seconds: 90 },
    tokens: { state: 'CA' },
  });
  expect(notice).toContain('counts like any other');
  expect(call_session).toMatchObject({ caller_number: CALLER, instruction: { action: 'dial' } });
  await play();
  expect(await shown(call_session.id)).toMatchObject({
    ...{ status: 'completed', category: 'inbound', buyer_id: taking, attempts_count: 2 },
    ...{ answered_duration: 90, total_duration: 90, buyer_converted: true, revenue: 20 },
    ...{ traffic_source_id: source, sub_id: 'ad 7', token_values: { state: 'CA' } },
    ...{ sandbox: true, provider: 'sandbox', unbilled_reason: null },
  });
  expect(await events(call_session.id)).toEqual(
    expect.arrayContaining(['started', 'busy', 'answered', 'key_press', 'completed']),
  );
  const { totals } = await ok('get', 'calls/reports');
  expect([totals.calls, totals.sandbox_calls, totals.revenue]).toEqual([1, 1, 20]);
  const { decisions } = await ok('get', `calls/${String(call_session.id)}/decision`);
  expect(decisions).toHaveLength(2);
});

test('too short a talk is not paid, and a number decides the offer', async () => {
  const offer = await createOffer([await createBuyer('+12125550122')]);
  await create('phone_numbers', { number: '+12125550177', offer_id: offer });
  const call = await callAndPlay({ number_called: '(212) 555-0177', talk_seconds: 10 });
  expect(call).toMatchObject({
    ...{ offer_id: offer, number_called: '+12125550177', answered_duration: 10 },
    ...{ buyer_converted: false, unbilled_reason: 'too_short' },
  });
  expect(await callAndPlay({ offer_id: offer, caller_number: null })).toMatchObject({
    ...{ caller_number: null, answered_duration: 60, buyer_converted: true },
  });
});

test('without a buyer that takes it, the caller gets what the offer has instead', async () => {
  const fallback = { fallback_type: 'message', fallback_message: 'Sorry.' };
  const offer = await createOffer([await createBuyer('+12125550106')], fallback);
  const call = await callAndPlay({ offer_id: offer });
  expect(call).toMatchObject({ status: 'no_answer', fallback: 'message', revenue: 0 });
  expect(await events(call.id as number)).toContain('fallback_ended');
  const empty = await callAndPlay({ offer_id: await createOffer([]) });
  expect([empty.ended_at !== null, empty.buyer_id]).toEqual([true, null]);
});

test('is played once, however often its job runs', async () => {
  const buyer = await createBuyer('+12125550122');
  const { call_session } = await begin({ offer_id: await createOffer([buyer]) });
  const [job] = await takeJobs();
  await Promise.all([1, 2, 3].map(() => playTestCall(job!, world.deps)));
  await playTestCall(job!, world.deps);
  expect(await shown(call_session.id)).toMatchObject({ attempts_count: 1, revenue: 20 });
  const used = await ok('get', `buyers/${buyer}?serializer=buyer_grid`);
  expect(used.buyer).toMatchObject({ attempt_total_used: 1, revenue_total_used: 20 });
});

test('a session that is read while its call ends dials no buyer', async () => {
  const offer = await createOffer([await createBuyer('+12125550122')]);
  const { call_session } = await begin({ offer_id: offer });
  const db = world.deps.tenants.of(world.company.id);
  const before = await readCall(db, String(call_session.id));
  await play();
  const session = await readSession(db, before, { fresh: true });
  expect(session).toMatchObject({ status: 'completed', instruction: { action: 'hang_up' } });
});

test('caps let through exactly their limit', async () => {
  const buyer = await createBuyer('+12125550122', { attempt_daily_limit: 3 });
  const offer = await createOffer([buyer]);
  const sessions = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      begin({ offer_id: offer, caller_number: `+1310555${String(3000 + n)}` }),
    ),
  );
  const actions = sessions.map(({ call_session: { instruction } }) => instruction.action);
  expect(actions.filter((action) => action === 'dial')).toHaveLength(3);
  await play();
  const { calls } = await ok('get', `calls?buyer_id=${buyer}`);
  expect(calls.map(({ status }: Fields) => status)).toEqual(Array(3).fill('completed'));
  const used = await ok('get', `buyers/${buyer}?serializer=buyer_grid`);
  expect(used.buyer).toMatchObject({ attempt_daily_used: 3 });
});

test('is one call for one Idempotency-Key', async () => {
  const offer = await createOffer([await createBuyer('+12125550122')]);
  const request = {
    body: { offer_id: offer, caller_number: CALLER },
    headers: { 'Idempotency-Key': 'test-1' },
  };
  const [first, second] = [
    await api('post', 'call_sessions/test', request),
    await api('post', 'call_sessions/test', request),
  ];
  expect([first.status, second.body.call_session.id]).toEqual([201, first.body.call_session.id]);
  expect(await takeJobs()).toHaveLength(1);
});

test('rings no telephone where the service has no carrier', async () => {
  const offer = await createOffer([await createBuyer('+12125550122')]);
  const app = buildApp(world.openProcess({ CARRIER: 'none' }));
  const res = await caller(app, world.company.auth)('post', 'call_sessions/test', {
    body: { offer_id: offer, caller_number: CALLER },
  });
  expect(res.status).toBe(201);
  await play();
  expect(await shown(res.body.call_session.id)).toMatchObject({ sandbox: true, revenue: 20 });
});

test('its story arrives on the stream of the company', async () => {
  const server = await listen(world.app);
  world.closeLater(server.close);
  const admin = await createMember(world.company, 'admin@example.com', { superuser: true });
  const offer = await createOffer([await createBuyer('+12125550122')]);
  const reader = await openStream(server.url, admin.token, { path: 'events/stream' });
  const { call_session } = await begin({ offer_id: offer });
  await play();
  const ofCall = () =>
    (reader.events as unknown as { event: string; data: Fields }[]).filter(
      ({ event, data }) => event === 'call' && data.call_id === call_session.id,
    );
  await eventually(() => ofCall().some(({ data }) => data.event === 'completed'));
  expect(ofCall().map(({ data }) => data.event)).toEqual(await events(call_session.id));
  reader.leave();
});

test('is refused for offers of others, and for those who may not create calls', async () => {
  const other = await world.addCompany();
  const offer = await createOffer([await createBuyer('+12125550122')]);
  const body = { offer_id: offer, caller_number: CALLER };
  const foreign = await other.api('post', 'call_sessions/test', { body });
  expect([foreign.status, Object.keys(foreign.body.errors)]).toEqual([422, ['offer_id']]);
  const publisher = await createMember(world.company, 'publisher@example.com', {
    ...{ permissions: ['calls:read', 'calls:create', 'offers:read'], offer_ids: [offer] },
  });
  expect((await publisher.api('post', 'call_sessions/test', { body })).status).toBe(403);
  const errors = async (fields: Fields) =>
    (await api('post', 'call_sessions/test', { body: { ...body, ...fields } })).body.errors;
  expect(await errors({ talk_seconds: 3601 })).toEqual({ talk_seconds: [expect.any(String)] });
  // A switch would get commands for a call that it does not have.
  expect(await errors({ switch: 'edge-1' })).toEqual({ switch: [expect.any(String)] });
  expect(await takeJobs()).toEqual([]);
});
