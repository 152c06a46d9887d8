import { createServer, type Server } from 'node:http';
import { createApp } from '../../src/app';
import { standingClock } from '../support/clock';
import { contactDueLeads } from '../../src/outreach/contact-due-leads';
import { DIAL, NOON, openShop, ownNumber, story, submit } from '../support/leads';
import { freePort } from '../support/process';
import { startTwilio, type Trouble, type TwilioServer } from '../support/twilio-server';
import { caller, createWorld, type Api, type World } from '../support/world';
import { openCarrier } from '../../src/carriers';

const TO = '+13105550190';

let world: World;
let server: TwilioServer;
let hooks: Server;
let public_url: string;
const time = standingClock(NOON);
beforeAll(async () => {
  server = await startTwilio();
  const port = await freePort();
  public_url = `http://127.0.0.1:${port}`;
  world = await createWorld({
    clock: time.read,
    environment: { PUBLIC_URL: public_url, TWILIO_AUTH_TOKEN: server.auth_token },
  });
  hooks = createServer(world.app as never);
  await new Promise<void>((done) => hooks.listen(port, '127.0.0.1', done));
});
let companies = 0;
let own: string;
beforeEach(async () => {
  time.set(NOON);
  world.company = await world.addCompany();
  own = `+1212555${String(7_000 + companies++)}`;
  await ownNumber(world, world.company, own.slice(1));
  server.trouble([]);
  for (const list of [server.asked, server.calls]) list.splice(0);
});
afterAll(async () => {
  hooks.close().closeAllConnections();
  await server.close();
  await world.close();
});

type Fields = Record<string, unknown>;
const ok = async (method: 'get' | 'post' | 'put', path: string, body?: Fields) => {
  const res = await world.company.api(method, path, body ? { body } : {});
  if (res.status >= 300) throw new Error(`${path}: ${res.text}`);
  return res.body;
};
const place = (body: Fields, api: Api = world.company.api, headers: Record<string, string> = {}) =>
  api('post', 'calls', { body, headers });
const errors = async (body: Fields) => {
  const res = await place(body);
  return res.status === 201 ? 201 : res.body.errors;
};
/** The API of a service whose calls a carrier places that is not this process. */
const distant = (): Api => {
  const { account_sid, auth_token, url: base_url } = server;
  const carrier = openCarrier('twilio', {
    account_sid,
    auth_token,
    base_url,
    public_url,
    timeout_ms: 300,
  });
  return caller(createApp({ ...world.deps, carrier }), world.company.auth);
};
const counted = async () => [
  (await ok('get', 'calls')).metadata.total_count,
  (await world.sql('SELECT FROM calls WHERE company_id = $1', [world.company.id])).length,
];
const shop = () => openShop(world, [{ ...DIAL, timeout_seconds: 20 }]);

describe('a call that is placed', () => {
  test('for a schedule is connected to where its calls go, from a number of the company', async () => {
    const { schedule, offer } = await shop();
    const res = await place({ to: '(310) 555-0190', schedule_id: schedule.id });
    expect(res.status).toBe(201);
    expect(res.body.call).toMatchObject({
      category: 'outbound',
      status: 'completed',
      caller_number: TO,
      number_called: own,
      connected_to: '+13105550199',
      schedule_id: schedule.id,
      offer_id: offer.id,
      lead_id: null,
      sandbox: true,
      call_sid: expect.any(String),
    });
    expect(res.body.call).toEqual((await ok('get', `calls/${res.body.call.uuid}`)).call);
    expect(await counted()).toEqual([1, 1]);
  });

  test('for an offer is connected to the buyer whose turn it is', async () => {
    const buyers = [];
    for (const tier of [2, 1])
      buyers.push(
        (await ok('post', 'buyers', { number: `+1212555010${tier}`, tier, timeout_seconds: 25 }))
          .buyer.id,
      );
    const offer = (await ok('post', 'offers', { name: 'Auto', buyer_ids: buyers })).offer.id;
    const other = await ownNumber(world, world.company, `1646555${own.slice(-4)}`, offer);
    const res = await distant()('post', 'calls', {
      query: { to: TO, from: `+1646555${own.slice(-4)}` },
    });
    expect(res.body.call).toMatchObject({
      status: 'queued',
      offer_id: offer,
      connected_to: '+12125550101',
      number_called: `+1646555${own.slice(-4)}`,
    });
    expect(Object.fromEntries(server.asked[0]!.form)).toMatchObject({
      To: TO,
      From: `+1646555${own.slice(-4)}`,
      Timeout: '25',
      Twiml: expect.stringContaining('<Number>+12125550101</Number>'),
    });
    expect(await server.settle()).toEqual([200]);
    expect((await ok('get', `calls/${res.body.call.id}`)).call.status).toBe('completed');
    const [given] = await world.sql('SELECT last_assigned_at FROM numbers WHERE id = $1', [other]);
    expect(given!.last_assigned_at).not.toBeNull();
  });

  test('for a lead has its tokens, its number and its owner, and counts as an attempt, under an Idempotency-Key too', async () => {
    const { schedule } = await shop();
    const lead = (await submit(world, schedule.lead_token, { first_name: 'Ann' })).body.id;
    const headers = { 'Idempotency-Key': 'call-ann' };
    const [first, second] = [
      await place({ lead_id: lead }, world.company.api, headers),
      await place({ lead_id: lead }, world.company.api, headers),
    ];
    expect([first.status, second.body]).toEqual([201, first.body]);
    expect(first.body.call).toMatchObject({
      lead_id: lead,
      caller_number: '+13105550123',
      schedule_id: schedule.id,
      token_values: { first_name: 'Ann' },
      name: 'Ann',
    });
    await place({ lead_id: lead });
    const [row] = await world.sql(
      'SELECT contact_attempts, attempted_call_id, connected_call_id, dial_number_id, last_call_at FROM leads WHERE id = $1',
      [lead],
    );
    const calls = await world.sql<{ id: string }>(
      'SELECT id FROM calls WHERE lead_id = $1 ORDER BY id',
      [lead],
    );
    expect(calls).toHaveLength(2);
    expect(row).toMatchObject({
      contact_attempts: 2,
      attempted_call_id: calls[1]!.id,
      connected_call_id: calls[1]!.id,
      dial_number_id: expect.any(String),
    });
    expect((await story(world, lead)).filter((line) => line.startsWith('call_'))).toEqual(
      Array(2).fill('call_placed: requested; completed'),
    );
    expect((await ok('get', 'contacts')).contacts[0]).toMatchObject({ calls_count: 2 });
  });

  test('of a lead is under way until the carrier tells of its end', async () => {
    const { schedule } = await shop();
    const lead = (await submit(world, schedule.lead_token)).body.id;
    await distant()('post', 'calls', {
      body: { lead_id: lead },
      headers: { 'Idempotency-Key': 'once' },
    });
    expect((await ok('get', `leads/${lead}`)).lead.status).toBe('running');
    await server.settle();
    expect((await ok('get', `leads/${lead}`)).lead).toMatchObject({
      status: 'scheduled',
      connected_call_id: expect.any(Number),
    });
  });
});

describe('nobody is called', () => {
  test('who is on the blacklist, has opted out, or is on a list of the offer or the schedule', async () => {
    const { schedule, offer } = await shop();
    const order = { to: TO, schedule_id: schedule.id };
    await ok('post', 'contacts/caller_block', { caller_ids: [TO] });
    expect(await errors(order)).toEqual({ to: [expect.stringContaining('blacklist')] });
    await ok('post', 'contacts/caller_unblock', { caller_ids: [TO] });
    const list = (await ok('post', 'buyer_suppressions', { name: 'DNC' })).buyer_suppression.id;
    await ok('post', `buyer_suppressions/${list}/caller_block`, { caller_ids: [TO] });
    expect(await errors(order)).toBe(201);
    for (const [path, id] of [
      ['schedules', schedule.id],
      ['offers', offer.id],
    ] as const) {
      await ok('put', `${path}/${id}`, { buyer_suppression_ids: [list] });
      expect(await errors(order)).toEqual({
        to: [expect.stringContaining(`suppression list ${list}`)],
      });
      await ok('put', `${path}/${id}`, { buyer_suppression_ids: [] });
    }
    const lead = (await submit(world, schedule.lead_token)).body.id;
    await world.company.api('put', 'leads/3105550123/caller_opt_out', {
      auth: null,
      query: { lead_token: schedule.lead_token },
    });
    expect(await errors({ lead_id: lead })).toEqual({
      lead_id: [expect.stringContaining('opted out')],
    });
    expect((await counted())[1]).toBe(1);
  });

  test('where it is not said whom, from where, or to whom the call is connected', async () => {
    const { schedule } = await shop();
    const offer = (await ok('post', 'offers', { name: 'Nobody' })).offer.id;
    expect(await errors({ schedule_id: schedule.id })).toEqual({
      to: [expect.stringContaining('must be given')],
    });
    expect(await errors({ to: TO })).toEqual({
      offer_id: [expect.stringContaining('must be given')],
    });
    expect(await errors({ to: '12', schedule_id: schedule.id })).toEqual({
      to: [expect.any(String)],
    });
    expect(await errors({ to: TO, offer_id: offer })).toEqual({
      offer_id: [expect.stringContaining('no buyer now')],
    });
    expect(await errors({ to: TO, from: '+12125559999', schedule_id: schedule.id })).toEqual({
      from: [expect.stringContaining('must be a number of the company')],
    });
    for (const field of ['lead_id', 'schedule_id', 'offer_id'])
      expect(await errors({ to: TO, [field]: 999_999_999 })).toEqual({
        [field]: [expect.stringContaining('no record of yours')],
      });
    await ok('put', `schedules/${schedule.id}`, { paused: true });
    expect(await errors({ to: TO, schedule_id: schedule.id })).toEqual({
      schedule_id: [expect.stringContaining('must not be paused')],
    });
    expect(await counted()).toEqual([0, 0]);
    const other = await world.addCompany();
    const mine = world.company;
    world.company = other;
    const theirs = await shop();
    await world.sql('DELETE FROM number_lookups WHERE company_id = $1', [other.id]);
    await world.sql('DELETE FROM numbers WHERE company_id = $1', [other.id]);
    expect(await errors({ to: TO, schedule_id: theirs.schedule.id })).toEqual({
      from: [expect.stringContaining('owns no number')],
    });
    world.company = mine;
    expect(await errors({ to: TO, schedule_id: theirs.schedule.id })).toEqual({
      schedule_id: [expect.stringContaining('no record of yours')],
    });
  });
});

describe('the carrier', () => {
  test('that refuses a call leaves it as failed, with the reason', async () => {
    const { schedule } = await shop();
    const lead = (await submit(world, schedule.lead_token, { caller_id: '3105550101' })).body.id;
    for (const api of [world.company.api, distant()]) {
      const res = await place({ lead_id: lead }, api);
      expect([res.status, res.body.call.status, res.body.call.error_code]).toEqual([
        201,
        'failed',
        'invalid_number',
      ]);
      expect(res.body.call.error_message).toEqual(expect.any(String));
    }
    expect((await ok('get', `leads/${lead}`)).lead.attempted_call_id).toBeNull();
    expect(
      (await story(world, lead)).filter((line) => line.startsWith('call_failed')),
    ).toHaveLength(2);
  });

  test('that is down leaves nothing behind, and the next try places one call', async () => {
    const { schedule } = await shop();
    const order = { to: TO, schedule_id: schedule.id };
    expect((await place({ ...order, to: '+13105550104' })).status).toBe(503);
    server.trouble([{ status: 429, code: 20429 }]);
    const res = await place(order, distant(), { 'Idempotency-Key': 'down' });
    expect([res.status, res.body.detail, res.headers['retry-after']]).toEqual([
      503,
      expect.stringContaining('No call was placed'),
      expect.any(String),
    ]);
    expect(await counted()).toEqual([0, 0]);
    expect((await place(order, distant(), { 'Idempotency-Key': 'down' })).status).toBe(201);
    expect([server.calls.length, await counted()]).toEqual([1, [1, 1]]);
  });

  test.each<Trouble>(['break after accepting', 'hang after accepting'])(
    'that was not heard from («%s») is asked what became of the call by who sends the same again',
    async (trouble) => {
      const { schedule } = await shop();
      const order = { to: TO, schedule_id: schedule.id };
      // The carrier's clock is the real one.
      time.set(new Date().toISOString());
      server.trouble([trouble]);
      const lost = await place(order, distant());
      expect([lost.status, lost.body.detail]).toEqual([503, expect.stringContaining('not known')]);
      const again = await place(order, distant());
      expect([again.status, server.calls.length, await counted()]).toEqual([201, 1, [1, 1]]);
      // And then another is another.
      expect((await place(order, distant())).body.call.id).not.toBe(again.body.call.id);
      expect([server.calls.length, await counted()]).toEqual([2, [2, 2]]);
    },
  );

  test('is asked for many calls at the same time, each once, while leads are contacted too', async () => {
    const { schedule } = await shop();
    const leads = [];
    for (let n = 0; n < 5; n++)
      leads.push(
        (await submit(world, schedule.lead_token, { caller_id: `310555020${n}` })).body.id,
      );
    const { account_sid, auth_token, url: base_url } = server;
    const carrier = openCarrier('twilio', { account_sid, auth_token, base_url, public_url });
    const api = distant();
    const [placed] = await Promise.all([
      Promise.all([...leads, ...leads].map((lead_id) => place({ lead_id }, api))),
      contactDueLeads({ ...world.deps, carrier }),
      contactDueLeads({ ...world.deps, carrier }),
    ]);
    expect(placed.map(({ status }) => status)).toEqual(Array(10).fill(201));
    const rows = await world.sql<{ n: number; own: number }>(
      'SELECT count(*)::int AS n, count(DISTINCT carrier_call_id)::int AS own FROM calls WHERE company_id = $1',
      [world.company.id],
    );
    expect([rows[0], server.calls.filter(({ from }) => from === own).length]).toEqual([
      { n: 15, own: 15 },
      15,
    ]);
  });
});
