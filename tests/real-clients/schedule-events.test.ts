import { applyCalls } from '../../src/leads/apply-calls';
import { startTriggered } from '../../src/leads/start-triggered';
import { standingClock } from '../support/clock';
import { DIAL, NOON, runEngine, schedulesOf, SMS, wait } from '../support/leads';
import { repetitions } from '../support/repetitions';
import { createWorld, type World } from '../support/world';

let world: World;
const time = standingClock(NOON);
const { ok, submitted, begun, hours, texts, events, status } = schedulesOf(() => world, time);
beforeAll(async () => {
  world = await createWorld({ clock: time.read, environment: { DATABASE_POOL_SIZE: '20' } });
});
beforeEach(async () => {
  time.set(NOON);
  world.company = await world.addCompany();
});
afterAll(() => world.close());

const ANN = '+13105550123';
type Fields = Record<string, unknown>;

/** A buyer who answers the calls of an offer. */
async function sold(offer: number): Promise<void> {
  const { buyer } = await ok('post', 'buyers', { number: '+12125550101' });
  await ok('put', `offers/${offer}`, { buyer_ids: [buyer.id] });
}
const call = async (offer_id: number, caller_number = ANN) =>
  (await ok('post', 'call_sessions', { offer_id, caller_number })).call_session as {
    id: number;
    uuid: string;
  };
const report = (id: number, event: string) => ok('post', `call_sessions/${id}/events`, { event });
const convert = (uuid: string) =>
  ok('post', `calls/update_call/${uuid}`, { buyer_converted: true });
const text = (body: string, from = ANN) =>
  ok('post', 'text_messages/receive', { from, to: '+12125550100', body });
const leadOf = async (id: number) => (await ok('get', `leads/${id}`)).lead;
const leadsIn = async (schedule: number) =>
  (await world.company.api('get', 'leads', { query: { schedule_id: schedule } })).body.leads as {
    id: number;
    caller_id: string;
    status: string;
    data: Fields;
    offer_id: number;
    email: string | null;
  }[];
/** What runs in the background, until nothing is left of it. */
async function settle(): Promise<void> {
  while ((await applyCalls(world.deps.database.pool, time.read())) > 0);
  for (let n = 0; n < 50; n++) {
    const events = await startTriggered(world.deps);
    if ((await runEngine(world)) + events === 0) return;
  }
  throw new Error('the schedules start each other without end');
}

const NAG = [SMS, wait(1), { ...SMS, body: 'Again' }];
const BYE = { ...SMS, body: 'Bye', end: true };

describe('exit_on', () => {
  test('is what a schedule has, by default conversions and opt-outs', async () => {
    const { schedule } = await ok('post', 'schedules', { name: 'A' });
    expect(schedule).toMatchObject({ exit_on: ['converted', 'opted_out'], triggers: [] });
    const all = ['connected', 'converted', 'inbound_call', 'replied', 'opted_out'];
    const put = (body: object) => world.company.api('put', `schedules/${schedule.id}`, { body });
    expect((await put({ exit_on: [...all, 'replied'] })).body.schedule.exit_on).toEqual(all);
    expect((await put({ exit_on: [] })).body.schedule.exit_on).toEqual([]);
    expect(Object.keys((await put({ exit_on: ['sold'] })).body.errors)).toEqual(['exit_on.0']);
  });

  /** Each makes happen what ends the schedule of a lead. */
  const happenings: Record<string, (offer: number) => Promise<unknown>> = {
    connected: async (offer) => {
      await sold(offer);
      await report((await call(offer)).id, 'answered');
    },
    inbound_call: (offer) => call(offer),
    replied: () => text('Who is this?'),
    converted: async (offer) => {
      await sold(offer);
      const { id, uuid } = await call(offer);
      await report(id, 'answered');
      await convert(uuid);
    },
    opted_out: () => text('STOP'),
  };
  const names = Object.keys(happenings);

  test.each(names)('%s ends the schedule, and nothing but the end is done', async (name) => {
    const { lead, offer } = await begun([...NAG, BYE], {}, { exit_on: [name] });
    await happenings[name]!(offer);
    await settle();
    await hours(2);
    const is_silent = name === 'converted' || name === 'opted_out';
    expect(await texts(lead)).toEqual(['Hello', ...(is_silent ? [] : ['Bye'])]);
    expect(await events(lead)).toContain(`left_schedule: ${name}`);
    expect((await leadOf(lead)).is_live).toBe(false);
  });

  test.each(names)('%s ends nothing where the schedule does not say so', async (name) => {
    const exit_on = names.filter(
      // A conversion comes with a connected call that came in.
      (other) => other !== name && !['connected', 'inbound_call', 'replied'].includes(other),
    );
    const { lead, offer } = await begun([...NAG, BYE], {}, { exit_on });
    await happenings[name]!(offer);
    await settle();
    expect(await events(lead)).not.toContain(`left_schedule: ${name}`);
    await hours(2);
    expect(await texts(lead)).toEqual(name === 'opted_out' ? ['Hello'] : ['Hello', 'Again', 'Bye']);
  });

  test('after a conversion the end has no contacts, but its webhooks', async () => {
    const HOOK = {
      action_type: 'webhook',
      url: 'https://example.com/x',
      method: 'post',
      end: true,
    };
    const { lead, offer } = await begun([...NAG, HOOK, BYE, { ...DIAL, end: true }]);
    await happenings.converted!(offer);
    await settle();
    await hours(5);
    expect([await texts(lead), await status(lead)]).toEqual([['Hello'], 'completed_converted']);
    const logged = await events(lead);
    expect(logged.filter((line) => line.startsWith('webhook'))).toHaveLength(1);
    expect((await ok('get', `leads/${lead}/timeline`)).timeline?.planned ?? []).toEqual([]);
  });

  test('an opt-out ends it for good: who comes back is not in it any more', async () => {
    const { lead } = await begun(NAG);
    await text('STOP');
    await text('START');
    await hours(2);
    expect([await texts(lead), (await leadOf(lead)).status]).toEqual([['Hello'], 'opt_out']);
    expect((await leadOf(lead)).is_live).toBe(false);
  });

  test('a callback that the lead has asked for is canceled with it', async () => {
    const { lead, offer } = await begun([wait(1), DIAL], { schedule_callback_in_seconds: 60 });
    await happenings.converted!(offer);
    await hours(3);
    const [callback] = await world.sql(
      'SELECT status FROM scheduled_callbacks WHERE lead_id = $1',
      [lead],
    );
    expect(callback).toEqual({ status: 'canceled' });
    expect((await leadOf(lead)).last_action_at).toBe(null);
  });

  test('STOP, START and HELP are no replies', async () => {
    const { lead } = await begun(NAG, {}, { exit_on: ['replied'] });
    await text('HELP');
    await hours(2);
    expect(await texts(lead)).toEqual(['Hello', 'Again']);
  });
});

describe('a conversion and a due step at the same moment', () => {
  /** A lead whose next text is due, on a call that is connected. */
  async function due() {
    const { lead, offer } = await begun([...NAG, wait(1), { ...SMS, body: 'Last' }]);
    await sold(offer);
    const { id, uuid } = await call(offer);
    await report(id, 'answered');
    await applyCalls(world.deps.database.pool, time.read());
    time.set('2027-01-12T18:30:00Z');
    return { lead, uuid };
  }

  test('while the conversion is not committed the step waits, and then is not done', async () => {
    const { lead } = await due();
    const client = await world.deps.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('UPDATE leads SET buyer_converted = true, updated_at = $2 WHERE id = $1', [
        lead,
        time.read(),
      ]);
      const engine = runEngine(world);
      await runEngine(world);
      await client.query('COMMIT');
      await engine;
    } finally {
      client.release();
    }
    await runEngine(world);
    expect([await texts(lead), await status(lead)]).toEqual([['Hello'], 'completed_converted']);
  });

  test('a worker that has claimed the lead finds its claim gone', async () => {
    const { lead, uuid } = await due();
    await world.sql(
      `UPDATE leads SET claim_id = gen_random_uuid(), due_at = due_at + interval '20 s' WHERE id = $1`,
      [lead],
    );
    await convert(uuid);
    const [row] = await world.sql('SELECT claim_id, phase, due_at FROM leads WHERE id = $1', [
      lead,
    ]);
    expect(row).toEqual({ claim_id: null, phase: 'end', due_at: time.read() });
    await runEngine(world);
    expect(await texts(lead)).toEqual(['Hello']);
  });

  test('raced: a text is never sent after the conversion', async () => {
    for (let n = 0; n < repetitions(8, 60); n++) {
      time.set(NOON);
      world.company = await world.addCompany();
      const { lead, uuid } = await due();
      await Promise.all([runEngine(world), convert(uuid), runEngine(world)]);
      await runEngine(world);
      const rows = await world.sql<{ kind: string }>(
        `SELECT event AS kind FROM lead_logs WHERE lead_id = $1 ORDER BY id`,
        [lead],
      );
      const order = rows.map(({ kind }) => kind);
      expect(order.lastIndexOf('sms_sent')).toBeLessThan(order.indexOf('left_schedule'));
      expect(await status(lead)).toBe('completed_converted');
    }
  });
});

describe('triggers', () => {
  /** A schedule that texts whom its triggers start. */
  const triggered = async (offer_id: number | null, triggers: object[], more: Fields = {}) =>
    (await ok('post', 'schedules', { name: 'Then', offer_id, triggers, ...more })).schedule
      .id as number;
  const act = (schedule_id: number, action: object) =>
    ok('post', 'schedule_actions', { schedule_id, ...action });

  test('are written, read and replaced with the schedule', async () => {
    const id = await triggered(null, [{ on: 'call_missed' }]);
    const shown = async () => (await ok('get', `schedules/${id}`)).schedule.triggers;
    expect(await shown()).toEqual([{ on: 'call_missed', token_filter_list: [] }]);
    const triggers = [{ on: 'lead_created', token_filter_list: ['state:CA'] }];
    expect((await ok('put', `schedules/${id}`, { triggers })).schedule.triggers).toEqual(triggers);
    await ok('put', `schedules/${id}`, { name: 'Other' });
    expect(await shown()).toEqual(triggers);
    for (const wrong of [[{ on: 'noon' }], [{}], [{ on: 'call_missed', token_filter_list: ['x'] }]])
      expect(
        (await world.company.api('put', `schedules/${id}`, { body: { triggers: wrong } })).status,
      ).toBe(422);
    await ok('put', `schedules/${id}`, { triggers: [] });
    expect(await shown()).toEqual([]);
  });

  test('lead_created starts it with the data of the lead, once', async () => {
    const { lead, offer, schedule } = await submitted([], { first_name: 'Ann', email: 'a@b.co' });
    const id = await triggered(offer, [{ on: 'lead_created' }]);
    await act(id, SMS);
    await settle();
    expect(await leadsIn(id)).toEqual([]);
    await world.company.api('post', 'leads/capture', {
      body: { schedule_id: schedule, caller_id: '+13105550124', first_name: 'Bo', email: 'b@c.co' },
    });
    await Promise.all([1, 2, 3].map(() => startTriggered(world.deps)));
    await settle();
    const [started, ...others] = await leadsIn(id);
    expect([started, others]).toMatchObject([
      { caller_id: '+13105550124', data: { first_name: 'Bo' }, email: 'b@c.co', offer_id: offer },
      [],
    ]);
    expect(await texts(started!.id)).toEqual(['Hello']);
    const logs = await ok('get', `lead_logs?lead_id=${started!.id}`);
    expect(logs.lead_logs[0].message).toBe('started by the trigger lead_created');
    expect(
      await world.sql('SELECT id FROM schedule_events WHERE company_id = $1', [world.company.id]),
    ).toEqual([]);
    expect(lead).not.toBe(started!.id);
  });

  test('call_missed starts it for a caller without a lead, with the tokens of the call', async () => {
    const { offer } = await submitted([]);
    const id = await triggered(offer, [{ on: 'call_missed' }]);
    const body = { offer_id: offer, caller_number: '+13105550125', tokens: { state: 'CA' } };
    const { id: missed } = (await ok('post', 'call_sessions', body)).call_session;
    await report(missed, 'completed').catch(() => undefined);
    await settle();
    expect(await leadsIn(id)).toMatchObject([{ caller_id: '+13105550125', data: { state: 'CA' } }]);
  });

  test('a call of a withheld or an impossible number starts nothing', async () => {
    const { offer } = await submitted([]);
    const id = await triggered(offer, [{ on: 'call_missed' }]);
    await call(offer, 'anonymous');
    await call(offer, '+10000000000');
    await settle();
    expect(await leadsIn(id)).toEqual([]);
  });

  test('call_converted and call_not_converted tell calls apart that were connected', async () => {
    const { offer } = await submitted([]);
    await sold(offer);
    const [won, lost, missed] = [
      await triggered(offer, [{ on: 'call_converted' }]),
      await triggered(offer, [{ on: 'call_not_converted' }]),
      await triggered(offer, [{ on: 'call_missed' }]),
    ];
    const first = await call(offer, '+13105550126');
    await report(first.id, 'answered');
    await convert(first.uuid);
    await report(first.id, 'completed');
    const second = await call(offer, '+13105550127');
    await report(second.id, 'answered');
    await report(second.id, 'completed');
    await settle();
    const numbers = async (id: number) => (await leadsIn(id)).map(({ caller_id }) => caller_id);
    expect([await numbers(won), await numbers(lost), await numbers(missed)]).toEqual([
      ['+13105550126'],
      ['+13105550127'],
      [],
    ]);
  });

  test('text_received starts it by a text, and not by STOP, START or HELP', async () => {
    await submitted([]);
    const id = await triggered(null, [{ on: 'text_received' }]);
    for (const word of ['HELP', 'STOP', 'START']) await text(word, '+13105550128');
    await settle();
    expect(await leadsIn(id)).toEqual([]);
    await text('Call me', '+13105550128');
    await text('Call me', '+13105550128');
    await settle();
    expect(await leadsIn(id)).toMatchObject([{ caller_id: '+13105550128' }]);
  });

  test('the tokens must match its filters', async () => {
    const { offer, schedule } = await submitted([]);
    const filters = ['state:in CA,NV', 'age:>=18'];
    const id = await triggered(offer, [{ on: 'lead_created', token_filter_list: filters }]);
    for (const [n, data] of [
      { state: 'CA' },
      { state: 'ny', age: 20 },
      { state: 'nv', age: 20 },
    ].entries())
      await ok('post', 'leads/capture', {
        schedule_id: schedule,
        caller_id: `+1310555013${n}`,
        data,
      });
    await settle();
    expect((await leadsIn(id)).map(({ caller_id }) => caller_id)).toEqual(['+13105550132']);
  });

  test('events of other offers and other companies start nothing', async () => {
    const { offer } = await submitted([]);
    const id = await triggered(offer, [{ on: 'lead_created' }, { on: 'call_missed' }]);
    const other = (await ok('post', 'offers', { name: 'Other' })).offer.id as number;
    await ok('post', 'leads/capture', { offer_id: other, caller_id: '+13105550140' });
    await call(other, '+13105550141');
    const mine = world.company;
    world.company = await world.addCompany();
    await submitted([], { caller_id: '+13105550142' });
    world.company = mine;
    await settle();
    expect(await leadsIn(id)).toEqual([]);
  });

  test('a number that is in the schedule goes on as it is', async () => {
    const { lead, offer, schedule } = await begun(NAG, { first_name: 'Ann' });
    await ok('put', `schedules/${schedule}`, { triggers: [{ on: 'call_missed' }] });
    await call(offer);
    await settle();
    expect((await leadsIn(schedule)).map(({ id }) => id)).toEqual([lead]);
    await hours(2);
    expect(await texts(lead)).toEqual(['Hello', 'Again']);
  });

  test('schedules that start each other by leads they make come to an end', async () => {
    const { offer, schedule } = await submitted([]);
    const each = { on: 'lead_created' };
    const [first, second] = [await triggered(offer, [each]), await triggered(offer, [each])];
    await ok('post', 'leads/capture', { schedule_id: schedule, caller_id: '+13105550150' });
    await settle();
    expect([(await leadsIn(first)).length, (await leadsIn(second)).length]).toEqual([1, 1]);
  });

  test('a schedule is not started by the calls that it places, nor two by turns', async () => {
    const { offer } = await submitted([]);
    const on = [{ on: 'call_not_converted' }, { on: 'call_missed' }, { on: 'lead_created' }];
    const [first, second] = [await triggered(offer, on), await triggered(offer, on)];
    for (const id of [first, second]) await act(id, DIAL);
    await ok('post', 'leads/capture', { offer_id: offer, caller_id: '+13105550151' });
    await settle();
    // The end of a call that a schedule has placed and nobody has bought.
    for (let n = 0; n < 6; n++) {
      await world.sql(
        `UPDATE calls SET ended_at = $2, connected_at = $2, updated_at = $2
          WHERE company_id = $1 AND direction = 'outbound' AND ended_at IS NULL`,
        [world.company.id, time.read()],
      );
      await settle();
    }
    const counts = [(await leadsIn(first)).length, (await leadsIn(second)).length];
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  });

  test('a number that calls again and again starts it five times a day at most', async () => {
    const { offer } = await submitted([]);
    const id = await triggered(offer, [{ on: 'call_missed' }]);
    for (let n = 0; n < 7; n++) {
      await call(offer, '+13105550152');
      await settle();
    }
    expect((await leadsIn(id)).length).toBe(5);
    await hours(25);
    await call(offer, '+13105550152');
    await settle();
    expect((await leadsIn(id)).length).toBe(6);
  });

  test('thousands of leads at once start it once each, by four processes', async () => {
    const { offer, schedule } = await submitted([]);
    const id = await triggered(offer, [{ on: 'lead_created' }]);
    const count = repetitions(300, 3_000);
    await world.sql(
      `INSERT INTO leads (company_id, uuid, caller_number, offer_id, schedule_id, status, entered_at)
        SELECT $1, gen_random_uuid(), 13104000000 + n, $2, $3, 'scheduled', now()
        FROM generate_series(1, $4::int) AS x(n)`,
      [world.company.id, offer, schedule, count],
    );
    const drain = async () => {
      while ((await startTriggered(world.deps)) > 0);
    };
    await Promise.all([1, 2, 3, 4].map(drain));
    const [row] = await world.sql(
      'SELECT count(*)::int AS n, count(DISTINCT caller_number)::int AS numbers FROM leads WHERE schedule_id = $1',
      [id],
    );
    expect(row).toEqual({ n: count, numbers: count });
  });

  test('a paused schedule keeps whom it starts until it is resumed', async () => {
    const { offer } = await submitted([]);
    const id = await triggered(offer, [{ on: 'call_missed' }], { paused: true });
    await call(offer, '+13105550153');
    await settle();
    expect(await leadsIn(id)).toMatchObject([{ status: 'disabled' }]);
  });
});
