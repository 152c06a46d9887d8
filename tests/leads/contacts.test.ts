import { setTimeout } from 'node:timers/promises';
import { standingClock } from '../support/clock';
import { NOON, openShop, ownNumber, runEngine, type Shop } from '../support/leads';
import { createWorld, type Company, type World } from '../support/world';

let world: World;
const time = standingClock(NOON);
beforeAll(async () => {
  world = await createWorld({ clock: time.read });
});
afterAll(() => world.close());
beforeEach(() => time.set(NOON));

const api = (...args: Parameters<Company['api']>) => world.company.api(...args);
const records = async (path: string, query: object = {}, company = world.company) => {
  const res = await company.api('get', path, { query });
  expect([path, res.status]).toEqual([path, 200]);
  return res.body[path];
};
let given = 0;
/** A number in Los Angeles that nobody else in these tests has. */
const newNumber = () => `+1310777${String(1000 + given++)}`;
/** The lead of a number, by whoever has the token. */
async function leadOf(lead_token: string, caller_id: string, fields: object = {}) {
  const res = await api('post', 'leads', {
    auth: null,
    query: { lead_token, caller_id, ...fields },
  });
  expect(res.status).toBe(201);
  return res.body.lead as { id: number; uuid: string };
}
const lead = async (id: number) => (await api('get', `leads/${id}`)).body.lead;
const contactOf = async (caller_id: string, company = world.company) =>
  (await records('contacts', { caller_id }, company))[0];
const bodies = async (number: string) =>
  (await records('text_messages', { number, direction: 'outbound' })).map(
    ({ body }: { body: string }) => body,
  );
const block = (caller_ids: unknown[], company = world.company) =>
  company.api('post', 'contacts/caller_block', { body: { caller_ids } });
const unblock = (caller_ids: unknown[], company = world.company) =>
  company.api('post', 'contacts/caller_unblock', { body: { caller_ids } });
const sms = (body: string) => ({ action_type: 'sms', body });
const wait = (wait_amount: number) => ({ action_type: 'wait', wait_amount, wait_unit: 'hours' });
const DIAL = { action_type: 'dial', connect_to: '+13105550199' };
const EMAIL = {
  action_type: 'email',
  subject: 'Hi {{first_name}}',
  body: '<p>{{first_name}}</p>',
  html: true,
};
/** A change that the database has not let through yet. */
const STUCK = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
const says = (from: string, body: string, to = '+12125550100') =>
  api('post', 'text_messages/receive', { body: { from, to, body } });

describe('contacts', () => {
  test('are found by number in any spelling, by the blacklist and by opting out', async () => {
    const company = await world.addCompany();
    const { schedule } = await openShop(world, [], {}, company);
    await block(['+13107770001', '+13107770002'], company);
    for (const caller_id of ['3107770002', '3107770003'])
      await api('post', 'leads', {
        auth: null,
        query: { lead_token: schedule.lead_token, caller_id },
      });
    expect(
      (
        await api('put', 'leads/3107770003/caller_opt_out', {
          auth: null,
          query: { lead_token: schedule.lead_token },
        })
      ).status,
    ).toBe(200);
    const listed = async (query: object) =>
      (await records('contacts', query, company))
        .map(({ caller_id }: { caller_id: string }) => caller_id.slice(-1))
        .join('');
    for (const caller_id of ['+13107770002', '(310) 777-0002', '1-310-777-0002', '310.777.0002'])
      expect([caller_id, await listed({ caller_id })]).toEqual([caller_id, '2']);
    expect(await listed({ caller_id: '+13107779999' })).toBe('');
    expect([
      await listed({ blocked: true }),
      await listed({ blocked: 'no' }),
      await listed({ opt_out: 'yes' }),
      await listed({ opt_out: false }),
    ]).toEqual(['12', '3', '3', '12']);
    expect([
      await listed({ blocked: true, opt_out: true }),
      await listed({ blocked: false, caller_id: '3107770003' }),
    ]).toEqual(['', '3']);
    expect(
      (await company.api('get', 'contacts', { query: { caller_id: 'call me' } })).body.errors,
    ).toEqual({ caller_id: [expect.any(String)] });
    expect(
      (await company.api('get', 'contacts', { query: { per_page: 1 } })).body.metadata.total_count,
    ).toBe(3);
  });

  test('count what went to their leads, and when it last did', async () => {
    const [shop, number] = [await openShop(world, [sms('a'), sms('b'), DIAL, EMAIL]), newNumber()];
    await leadOf(shop.schedule.lead_token, number, { email: 'ann@example.com' });
    await leadOf(shop.offer.lead_token, number);
    await runEngine(world);
    const counts = {
      leads_count: 2,
      calls_count: 1,
      sms_count: 2,
      emails_count: 1,
      last_contacted_at: '2027-01-12T17:00:00.000+00:00',
    };
    expect(await contactOf(number)).toMatchObject({ ...counts, blocked: false, opt_out: false });
  });

  test('are shown by number and uuid, and not again while they are unchanged', async () => {
    const number = newNumber();
    await block([number]);
    const { id, uuid } = await contactOf(number);
    const first = await api('get', `contacts/${id}`);
    expect((await api('get', `contacts/${uuid}`)).body).toEqual(first.body);
    expect(first.body.contact).toMatchObject({
      caller_id: number,
      blocked: true,
      blocked_at: expect.any(String),
      unblocked_at: null,
    });
    const again = () =>
      api('get', `contacts/${id}`, { headers: { 'If-None-Match': `"${first.body.checksum}"` } });
    expect((await again()).status).toBe(304);
    await unblock([number]);
    expect((await again()).body.contact).toMatchObject({
      blocked: false,
      unblocked_at: expect.any(String),
    });
    expect((await (await world.addCompany()).api('get', `contacts/${id}`)).status).toBe(404);
  });
});

describe('the blacklist', () => {
  test.each<[string, unknown[], object]>([
    [
      'takes numbers in any spelling, each once',
      ['(310) 888-0001', '+13108880001', 13108880001, '310-888-0002'],
      { accepted: 4, added: 2, removed: 0, rejected: [] },
    ],
    [
      'counts none that is on it already',
      ['3108880001', '3108880003'],
      { accepted: 2, added: 1, removed: 0, rejected: [] },
    ],
    [
      'names what is no number, and takes the rest',
      ['call me', '', '3108880004', '123'],
      {
        accepted: 1,
        added: 1,
        rejected: ['call me', '', '123'].map((caller_id) => ({
          caller_id,
          reason: expect.any(String),
        })),
      },
    ],
    [
      'may be given nothing but junk',
      ['x'],
      { accepted: 0, added: 0, rejected: [{ caller_id: 'x', reason: expect.any(String) }] },
    ],
  ])('%s', async (_name, caller_ids, reply) => {
    const res = await block(caller_ids);
    expect([res.status, res.body]).toEqual([200, expect.objectContaining(reply)]);
  });

  test('gives back only what is on it, and is the company’s own', async () => {
    const [numbers, other] = [[newNumber(), newNumber()], await world.addCompany()];
    await block([numbers[0]]);
    await block(numbers, other);
    expect((await unblock([...numbers, 'junk'])).body).toMatchObject({
      accepted: 2,
      added: 0,
      removed: 1,
      rejected: [{ caller_id: 'junk' }],
    });
    expect((await unblock(numbers)).body).toMatchObject({ accepted: 2, removed: 0 });
    expect([
      (await contactOf(numbers[0]!)).blocked,
      (await contactOf(numbers[0]!, other)).blocked,
    ]).toEqual([false, true]);
  });

  test('takes ten thousand numbers at once, and not one more', async () => {
    const numbers = Array.from({ length: 10_000 }, (_, n) => 13_109_000_000 + n);
    expect((await block(numbers)).body).toMatchObject({ accepted: 10_000, added: 10_000 });
    expect((await unblock(numbers.toReversed())).body).toMatchObject({
      accepted: 10_000,
      removed: 10_000,
    });
    expect((await block([...numbers, 13_109_990_000])).body.errors).toEqual({
      caller_ids: [expect.any(String)],
    });
    expect((await block([])).body.errors).toEqual({ caller_ids: [expect.any(String)] });
  });

  test('stops the living leads of a number, and gives them back where they were', async () => {
    const [shop, ended, number] = [
      await openShop(world, [sms('first'), wait(2), sms('second')]),
      await openShop(world, [sms('only')]),
      newNumber(),
    ];
    const leads = await Promise.all(
      [shop.schedule, ended.schedule, shop.offer].map(
        async ({ lead_token }) => (await leadOf(lead_token, number)).id,
      ),
    );
    const statuses = async () => (await Promise.all(leads.map(lead))).map(({ status }) => status);
    await runEngine(world);
    expect(await statuses()).toEqual(['waiting', 'completed', 'queue']);
    await block([number]);
    expect(await statuses()).toEqual(['blocked', 'completed', 'blocked']);
    expect(await lead(leads[0]!)).toMatchObject({
      is_live: true,
      blocked: true,
      has_next_action: false,
    });
    time.set('2027-01-12T18:00:00Z');
    await unblock([number]);
    await runEngine(world);
    // Its wait goes on to the time that was meant.
    expect([await statuses(), await bodies(number)]).toEqual([
      ['waiting', 'completed', 'queue'],
      expect.not.arrayContaining(['second']),
    ]);
    await block([number]);
    time.set('2027-01-12T19:30:00Z');
    expect([await runEngine(world), (await bodies(number)).length]).toEqual([0, 2]);
    await unblock([number]);
    await runEngine(world);
    expect(await statuses()).toEqual(['completed', 'completed', 'queue']);
    expect(await bodies(number)).toEqual(['first', 'only', 'second']);
  });

  test('a change that waits for another of the same number is made of what that one leaves', async () => {
    const [{ schedule }, number] = [await openShop(world, [wait(24)]), newNumber()];
    const { id } = await leadOf(schedule.lead_token, number);
    await block([number]);
    await unblock([number]);
    await world.sql('BEGIN');
    await world.sql('SELECT FROM contacts WHERE caller_number = $1 FOR UPDATE', [number.slice(1)]);
    const waiting = unblock([number]);
    for (let n = 0; n < 200 && (await world.deps.database.pool.query(STUCK)).rowCount === 0; n++)
      await setTimeout(20);
    await world.sql('UPDATE contacts SET blocked = true WHERE caller_number = $1', [
      number.slice(1),
    ]);
    await world.sql(`UPDATE leads SET status = 'blocked', due_at = NULL WHERE id = $1`, [id]);
    await world.sql('COMMIT');
    expect((await waiting).body).toMatchObject({ accepted: 1, removed: 1 });
    expect([(await contactOf(number)).blocked, (await lead(id)).status]).toEqual([
      false,
      'scheduled',
    ]);
  });

  test('twenty simultaneous changes of the same numbers, in different orders, leave leads and contacts of one mind', async () => {
    const { schedule } = await openShop(world, [wait(24)]);
    const numbers = Array.from({ length: 60 }, newNumber);
    await Promise.all(numbers.slice(0, 40).map((number) => leadOf(schedule.lead_token, number)));
    const orders = Array.from({ length: 20 }, (_, n) => [
      ...numbers.slice(n * 3),
      ...numbers.slice(0, n * 3).toReversed(),
    ]);
    const engine = runEngine(world).then(() => ({ status: 200 }));
    const changes = await Promise.all([
      ...orders.map((order, n) => (n % 2 ? block : unblock)(order)),
      engine,
    ]);
    expect(changes.map(({ status }) => status)).toEqual(changes.map(() => 200));
    const minds = `SELECT DISTINCT c.blocked, l.status = 'blocked' AS stopped FROM leads l JOIN contacts c USING (company_id, caller_number) WHERE l.schedule_id = $1`;
    const rows = await world.sql(minds, [schedule.id]);
    expect([rows.length, rows[0]!.blocked]).toEqual([1, rows[0]!.stopped]);
  });
});

describe('text messages', () => {
  let shop: Shop;
  const numbers: string[] = [];
  const leads: { id: number; uuid: string }[] = [];
  beforeAll(async () => {
    shop = await openShop(world, [sms('Hi [first_name]{you}')]);
    for (const ending of ['0123', '0107']) {
      numbers.push(`+1213555${ending}`);
      leads.push(await leadOf(shop.schedule.lead_token, numbers.at(-1)!, { first_name: 'Ann' }));
    }
    await runEngine(world);
    await says(numbers[0]!, 'Yes');
  });

  test('are found by lead, direction, status and number', async () => {
    const listed = async (query: object) =>
      (await records('text_messages', query)).map(
        ({ body, to_number }: { body: string; to_number: string }) => `${body} ${to_number}`,
      );
    const [sent, lost, answer] = [
      `Hi Ann ${numbers[0]}`,
      `Hi Ann ${numbers[1]}`,
      'Yes +12125550100',
    ];
    expect(await listed({ lead_id: leads[0]!.id })).toEqual([sent, answer]);
    expect(await listed({ lead_id: leads[0]!.uuid })).toEqual([sent, answer]);
    expect(await listed({ lead_id: leads[1]!.id, direction: 'inbound' })).toEqual([]);
    expect(await listed({ lead_id: leads[0]!.id, direction: 'inbound' })).toEqual([answer]);
    expect(await listed({ number: '(213) 555-0107' })).toEqual([lost]);
    expect(await listed({ number: numbers[0], status: 'delivered' })).toEqual([sent]);
    expect(await listed({ number: numbers[1], status: 'undelivered' })).toEqual([lost]);
    expect(
      await listed({
        number: '+12125550100',
        status: 'received',
        direction: 'inbound',
        lead_id: leads[0]!.id,
      }),
    ).toEqual([answer]);
    expect(
      (await api('get', 'text_messages', { query: { number: 'nobody' } })).body.errors,
    ).toEqual({ number: [expect.any(String)] });
    expect((await api('get', 'text_messages', { query: { status: 'lost' } })).body.errors).toEqual({
      status: [expect.any(String)],
    });
  });

  test('are shown with what they were made of, and not again while they are unchanged', async () => {
    const [{ id, uuid }] = await records('text_messages', { lead_id: leads[0]!.id });
    const { body } = await api('get', `text_messages/${uuid}`);
    const made = {
      id,
      direction: 'outbound',
      from_number: '+12125550100',
      to_number: numbers[0],
      status: 'delivered',
      carrier: 'sandbox',
      sandbox: true,
    };
    expect(body.text_message).toMatchObject({
      ...made,
      lead_id: leads[0]!.id,
      schedule_id: shop.schedule.id,
      token_values: { first_name: 'Ann' },
    });
    expect(
      (await api('get', `text_messages/${id}`, { headers: { 'If-None-Match': body.checksum } }))
        .status,
    ).toBe(304);
    expect((await (await world.addCompany()).api('get', `text_messages/${id}`)).status).toBe(404);
  });
});

describe('a text message that comes in', () => {
  test.each<[string, boolean]>([
    ...[
      'STOP',
      'stop',
      'Stop.',
      'STOP please',
      ' unsubscribe',
      'CANCEL',
      '"STOP"',
      '\n\tUnsubscribe me',
      'cancel it',
    ].map((body): [string, boolean] => [body, true]),
    ...['Please stop', 'Yes', 'START', 'Non stop', 'Do not cancel', '', '!', 'Ｓtop'].map(
      (body): [string, boolean] => [body, false],
    ),
  ])('%j opts its sender out: %s', async (body, opt_out) => {
    const number = newNumber();
    const res = await says(number, body);
    const told = {
      direction: 'inbound',
      status: 'received',
      from_number: number,
      to_number: '+12125550100',
      body,
      lead_id: null,
    };
    expect([res.status, res.body.text_message]).toEqual([201, expect.objectContaining(told)]);
    expect((await contactOf(number))?.opt_out ?? false).toBe(opt_out);
  });

  test.each([
    ['with pairs of characters where logs cut it', `STOP ${'x'.repeat(34)}🙂${'x'.repeat(158)}🙂`],
    ['of nothing but those', '🙂'.repeat(800)],
  ])('%s is kept whole', async (_name, body) => {
    const [{ schedule }, number] = [await openShop(world, []), newNumber()];
    const { id } = await leadOf(schedule.lead_token, number);
    expect((await says(number, body)).body.text_message).toMatchObject({ body, lead_id: id });
  });

  test('that says STOP ends all contact with all leads of the number, and START lets them go on', async () => {
    const nag = (n: number) => [wait(1), sms(`text ${n}`), DIAL, EMAIL];
    const [number, shops] = [
      newNumber(),
      [await openShop(world, nag(1)), await openShop(world, nag(2))],
    ];
    const tokens = [
      ...shops.map(({ schedule }) => schedule.lead_token),
      shops[0]!.offer.lead_token,
    ];
    const leads = await Promise.all(
      tokens.map((token) =>
        leadOf(token, number, { email: 'ann@example.com', schedule_callback_in_seconds: 60 }),
      ),
    );
    const statuses = async () =>
      (await Promise.all(leads.map(({ id }) => lead(id)))).map(({ status }) => status);
    await runEngine(world);
    await says(number, 'Stop it');
    expect(await statuses()).toEqual(['opt_out', 'opt_out', 'opt_out']);
    time.set('2027-01-12T19:00:00Z');
    expect((await runEngine(world), await contactOf(number))).toMatchObject({
      calls_count: 0,
      sms_count: 0,
      emails_count: 0,
      opt_out: true,
    });
    await says(number, 'Start');
    await runEngine(world);
    expect(await contactOf(number)).toMatchObject({
      opt_out: false,
      opted_in_at: expect.any(String),
    });
    time.set('2027-01-12T20:30:00Z');
    await runEngine(world);
    expect((await bodies(number)).toSorted()).toEqual(['text 1', 'text 2']);
    expect((await statuses()).slice(0, 2)).toEqual(['completed_connected', 'completed_connected']);
  });

  test('belongs to a living lead before one that ended, and to the one that was texted from that number', async () => {
    const [number, number_id] = [newNumber(), await ownNumber(world, world.company, '12125550177')];
    const [short, long, longer] = [
      await openShop(world, [sms('x')]),
      await openShop(world, [sms('y'), wait(24)]),
      await openShop(world, [wait(24)]),
    ];
    const [texted, latest] = [
      await leadOf(long.schedule.lead_token, number),
      await leadOf(longer.schedule.lead_token, number),
    ];
    await leadOf(short.schedule.lead_token, number);
    await runEngine(world);
    await world.sql('UPDATE leads SET sms_number_id = $2 WHERE id = $1', [texted.id, number_id]);
    expect((await says(number, 'which?', '+12125550177')).body.text_message).toMatchObject({
      lead_id: texted.id,
      schedule_id: long.schedule.id,
    });
    expect((await says(number, 'which?')).body.text_message.lead_id).toBe(latest.id);
    for (const { id } of [texted, latest])
      expect((await api('delete', `leads/${id}/id`)).status).toBe(200);
    const [last] = await records('leads', { number });
    expect((await says(number, 'which?', '+12125550177')).body.text_message.lead_id).toBe(last.id);
    expect(
      (await records('lead_logs', { lead_id: last.id, event: 'sms_received' })).map(
        ({ message }: { message: string }) => message,
      ),
    ).toEqual(['which?']);
  });

  test.each([
    ['to a number the company does not own', { to: '+13105559999' }, 'to'],
    ['to nothing that is a number', { to: 'us' }, 'to'],
    ['from nothing that is a number', { from: '12' }, 'from'],
    ['with more than 1600 characters', { body: 'x'.repeat(1601) }, 'body'],
  ])('%s is refused', async (_name, fields, field) => {
    const res = await api('post', 'text_messages/receive', {
      body: { from: '+13107770099', to: '+12125550100', body: 'x', ...fields },
    });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, [field]]);
  });

  test('comes from the carrier itself where there is one', async () => {
    const real = await createWorld({
      environment: {
        CARRIER: 'twilio',
        TWILIO_ACCOUNT_SID: 'AC1',
        PUBLIC_URL: 'https://api.example.com',
      },
    });
    await ownNumber(real, real.company);
    const res = await real.company.api('post', 'text_messages/receive', {
      body: { from: '+13107770099', to: '+12125550100', body: 'STOP' },
    });
    await real.close();
    expect([res.status, res.body.errors]).toEqual([
      422,
      { from: [expect.stringContaining('twilio')] },
    ]);
  });
});

describe('lead logs and e-mails', () => {
  let leads: { id: number; uuid: string }[];
  let company: Company;
  beforeAll(async () => {
    time.set(NOON);
    company = await world.addCompany();
    await ownNumber(world, company, '12125550188');
    const { schedule } = await openShop(world, [sms('x'), EMAIL], {}, company);
    leads = [];
    for (const email of ['ann@example.com', 'bounce@example.com'])
      leads.push(await leadOf(schedule.lead_token, newNumber(), { email, first_name: '<b>' }));
    await runEngine(world);
  });
  const EVENTS = ['created', 'sms_sent', 'email_sent', 'left_schedule', 'ended'];
  const events = (logs: { event: string }[]) => logs.map(({ event }) => event);

  test('logs are in order, by lead and by event', async () => {
    const logs = await records('lead_logs', { lead_id: leads[0]!.id }, company);
    expect(events(logs)).toEqual(EVENTS);
    expect(await records('lead_logs', { lead_id: leads[0]!.uuid }, company)).toEqual(logs);
    expect(
      events(await records('lead_logs', { lead_id: leads[0]!.id, order_dir: 'desc' }, company)),
    ).toEqual(EVENTS.toReversed());
    const ended = await records('lead_logs', { event: 'ended' }, company);
    expect(
      ended.map(({ lead_id, message }: Record<string, unknown>) => [lead_id, message]),
    ).toEqual(leads.map(({ id }) => [id, 'completed']));
    const failed = await records(
      'lead_logs',
      { event: 'email_failed', lead_id: leads[1]!.id },
      company,
    );
    expect(failed).toEqual([
      expect.objectContaining({
        type: 'LeadLog',
        email_id: expect.any(Number),
        schedule_action_id: expect.any(Number),
        message: expect.stringContaining('no mailbox'),
      }),
    ]);
    expect(await records('lead_logs', {}, await world.addCompany())).toEqual([]);
    expect((await company.api('get', 'lead_logs', { query: { event: 'nothing' } })).status).toBe(
      422,
    );
  });

  test('logs are paged through, each once, whatever comes meanwhile', async () => {
    const all = (await records('lead_logs', { per_page: 1000 }, company)).map(
      ({ id }: { id: number }) => id,
    );
    const seen: number[] = [];
    let cursor: string | number = -1;
    for (let pages = 0; pages < 20 && String(cursor) !== '0'; pages++) {
      const { body } = await company.api('get', 'lead_logs', { query: { cursor, per_page: 3 } });
      seen.push(...body.lead_logs.map(({ id }: { id: number }) => id));
      cursor = body.metadata.next_cursor;
      if (pages === 1) await company.api('put', `leads/${leads[0]!.id}`, { body: { sub_id: 'x' } });
    }
    expect([seen.slice(0, all.length), seen.length]).toEqual([all, all.length + 1]);
  });

  test('e-mails are listed by lead and shown as they went out', async () => {
    const [sent] = await records('emails', { lead_id: leads[0]!.uuid }, company);
    const told = {
      status: 'sent',
      to_email: 'ann@example.com',
      subject: 'Hi <b>',
      body: '<p>&lt;b&gt;</p>',
      html: true,
      sandbox: true,
      error_code: null,
    };
    const shown = await company.api('get', `emails/${sent.id}`);
    expect(shown.body.email).toMatchObject({
      ...told,
      lead_id: leads[0]!.id,
      sent_at: '2027-01-12T17:00:00.000+00:00',
    });
    expect(
      (
        await company.api('get', `emails/${sent.uuid}`, {
          headers: { 'If-None-Match': shown.body.checksum },
        })
      ).status,
    ).toBe(304);
    expect(await records('emails', { lead_id: leads[1]!.id }, company)).toMatchObject([
      { status: 'failed', error_code: 'rejected', sent_at: null },
    ]);
    expect((await api('get', `emails/${sent.id}`)).status).toBe(404);
    expect((await records('emails', {}, company)).length).toBe(2);
  });
});
