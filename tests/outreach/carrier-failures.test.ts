import { createServer, type Server } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { openCarrier } from '../../src/carriers';
import type { Carrier } from '../../src/carriers/carrier';
import type { Deps } from '../../src/deps';
import { startOutreach } from '../../src/background/outreach-loop';
import { openMailer } from '../../src/mail';
import type { Mailer } from '../../src/mail/mailer';
import { contactDueLeads } from '../../src/outreach/contact-due-leads';
import {
  eventually,
  gate,
  startEngineProcess,
  watchedCarrier,
  workersOf,
  type Meanwhile,
} from '../support/engine-process';
import { kill } from '../support/job-process';
import {
  DIAL,
  EMAIL,
  fillSchedule,
  leadRow,
  openShop,
  ownNumber,
  sentTo,
  SMS,
  story,
  submit,
  wait,
  type Shop,
} from '../support/leads';
import { startMailServer, type MailServer } from '../support/mail-server';
import { freePort } from '../support/process';
import {
  startTwilio,
  type Resource,
  type Trouble,
  type TwilioServer,
} from '../support/twilio-server';
import { createWorld, type World } from '../support/world';

const LEASE_MS = 1_000;
/** How long the carrier may take. */
/** Long enough for an answer on a busy machine: an answer that is late is one that is not known. */
const TIMEOUT_MS = 2_000;

let world: World;
/** The world as a company of the test's own sees it. */
let here: World;
let server: TwilioServer;
let api: Server;
let mail: MailServer;
const workers = workersOf(() => world);
let companies = 0;
let public_url: string;

beforeAll(async () => {
  server = await startTwilio();
  const port = await freePort();
  public_url = `http://127.0.0.1:${port}`;
  world = await createWorld({
    environment: { PUBLIC_URL: public_url, TWILIO_AUTH_TOKEN: server.auth_token },
  });
  api = createServer(world.app as never);
  await new Promise<void>((done) => api.listen(port, '127.0.0.1', done));
  mail = await startMailServer();
});
beforeEach(async () => {
  here = { ...world, company: await world.addCompany() };
  await ownNumber(here, here.company, String(12_125_550_110 + companies++));
  server.trouble([]);
  for (const list of [server.asked, server.messages, server.calls, mail.taken]) list.splice(0);
  await server.settle().catch(() => undefined);
});
afterEach(() => workers.closeAll());
afterAll(async () => {
  api.close().closeAllConnections();
  await Promise.all([mail.close(), server.close()]);
  await world.close();
});

const smtp = (url = mail.url) => openMailer('smtp', { url, timeout_ms: 2_000 });
const twilio = () =>
  openCarrier('twilio', {
    account_sid: server.account_sid,
    auth_token: server.auth_token,
    base_url: server.url,
    public_url,
    timeout_ms: TIMEOUT_MS,
  });
/** What a process of its own would work with. */
const worker = (edges: Parameters<typeof workers.open>[0] = {}): Deps =>
  workers.open({ carrier: twilio(), mailer: smtp(), ...edges });
const run = (deps: Deps) => contactDueLeads(deps, { lease_ms: LEASE_MS });
/** Has everything done that is due, and what is due once the leases of dead workers are over. */
async function settleAll(deps = worker()): Promise<void> {
  const waiting = () =>
    world.sql('SELECT FROM leads WHERE company_id = $1 AND claim_id IS NOT NULL', [
      here.company.id,
    ]);
  await eventually(async () => (await run(deps)) === 0 && (await waiting()).length === 0, 50);
}
/** What was put off is due now. */
const hurry = () =>
  world.sql(
    'UPDATE leads SET due_at = now(), next_action_at = now() WHERE company_id = $1 AND is_live',
    [here.company.id],
  );

const shopOf = (actions: object[]): Promise<Shop> =>
  openShop(here, actions as never, { daylight_hours: '00:00..23:59' }, here.company);
async function submitted(actions: object[], fields: object = {}): Promise<number> {
  const { schedule } = await shopOf(actions);
  return (
    await submit(here, schedule.lead_token, {
      caller_id: '3102000001',
      email: 'ann@example.com',
      ...fields,
    })
  ).body.id;
}
const bodies = () => server.messages.map(({ body }) => body).toReversed();

const watched = (meanwhile: Meanwhile): Carrier => watchedCarrier(twilio(), meanwhile);
/** Breaks the connections of workers inside a transaction, as the end of a process would. */
const breakWorkers = () =>
  world.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'idle in transaction'`,
  );
const dying = () => watched(async (phase) => phase === 'after' && breakWorkers());

describe('what goes out', () => {
  test('is written down, for all to see, before it is sent', async () => {
    const lead = await submitted([SMS, DIAL]);
    const seen: unknown[] = [];
    const look: Meanwhile = async (phase) => {
      if (phase === 'before')
        for (const table of ['text_messages', 'calls'] as const)
          seen.push(
            ...(await sentTo(world, table, lead)).map(({ status }) => `${table} ${status}`),
          );
    };
    await run(worker({ carrier: watched(look) }));
    expect(seen).toEqual(['text_messages sending', 'text_messages queued', 'calls sending']);
  });

  test('goes out at once and once each, several things to a lead in a row', async () => {
    const lead = await submitted([
      SMS,
      EMAIL,
      DIAL,
      { ...SMS, body: 'And' },
      { ...EMAIL, subject: 'More' },
      wait(1),
      SMS,
    ]);
    await run(worker());
    expect([bodies(), server.calls.length, mail.taken.length]).toEqual([['Hello', 'And'], 1, 2]);
    expect((await story(world, lead)).slice(1, -1)).toEqual([
      'sms_sent: queued',
      'email_sent: sent',
      'call_placed: queued',
      'sms_sent: queued',
      'email_sent: sent',
    ]);
    expect(server.asked.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST']);
    expect(await server.settle()).toEqual([200, 200, 200]);
    expect(
      (await sentTo(world, 'text_messages', lead)).map(({ status, carrier_message_id }) => [
        status,
        carrier_message_id,
      ]),
    ).toEqual(server.messages.map(({ sid }) => ['delivered', sid]).toReversed());
    expect(await sentTo(world, 'calls', lead)).toMatchObject([
      { status: 'completed', carrier_call_id: server.calls[0]!.sid },
    ]);
  });

  test('is sent once to each of forty leads by two workers with leases shorter than the work', async () => {
    const { schedule } = await shopOf([SMS, EMAIL]);
    for (let n = 0; n < 40; n++)
      await submit(here, schedule.lead_token, {
        caller_id: `31020000${10 + n}`,
        email: 'ann@example.com',
      });
    const slow = () => worker({ carrier: watched(() => setTimeout(40)) });
    const [a, b] = [slow(), slow()];
    const none = async () =>
      (await world.sql('SELECT FROM leads WHERE company_id = $1 AND is_live', [here.company.id]))
        .length === 0;
    const loop = (deps: Deps) =>
      eventually(async () => (await contactDueLeads(deps, { lease_ms: 150 })) === 0 && none(), 20);
    await Promise.all([loop(a), loop(b)]);
    expect([
      server.messages.length,
      new Set(server.messages.map(({ to }) => to)).size,
      mail.taken.length,
    ]).toEqual([40, 40, 40]);
    expect(
      await world.sql('SELECT status, count(*)::int FROM emails WHERE company_id = $1 GROUP BY 1', [
        here.company.id,
      ]),
    ).toEqual([{ status: 'sent', count: 40 }]);
  });
});

describe('a process that is killed while something is on its way', () => {
  test.each<[string, Trouble[]]>([
    ['before the carrier has answered', ['hang after accepting', 'hang after accepting']],
    ['between the answer of the carrier and the record of it', []],
  ])(
    '%s: the carrier sees it once, and it is recorded by whoever takes over',
    async (_, troubles) => {
      const environment = {
        CARRIER: 'twilio',
        TWILIO_ACCOUNT_SID: server.account_sid,
        TWILIO_AUTH_TOKEN: server.auth_token,
        TWILIO_BASE_URL: server.url,
        PUBLIC_URL: public_url,
      };
      const child = await startEngineProcess(here, LEASE_MS, environment);
      const held = await world.deps.database.streams.connect();
      if (troubles.length === 0) await held.query('BEGIN; LOCK TABLE lead_logs IN SHARE MODE');
      server.trouble(troubles);
      const made: number[] = [];
      // Both in one batch.
      const soon = new Date(Date.now() + 2_000);
      for (const [n, action] of [SMS, DIAL].entries()) {
        const { schedule } = await shopOf([action, wait(9)]);
        made.push(
          ...(await fillSchedule(here, schedule.id, {
            first: 13_102_000_001 + n,
            count: 1,
            now: soon,
          })),
        );
      }
      await eventually(() => server.messages.length + server.calls.length === 2);
      if (troubles.length === 0) await eventually(blocked);
      await kill(child);
      await held.query('ROLLBACK');
      held.release();
      await settleAll();
      expect([server.messages.length, server.calls.length]).toEqual([1, 1]);
      expect(await sentTo(world, 'text_messages', made[0]!)).toMatchObject([
        { status: 'delivered', carrier_message_id: server.messages[0]!.sid },
      ]);
      expect(await sentTo(world, 'calls', made[1]!)).toMatchObject([
        { status: 'completed', carrier_call_id: server.calls[0]!.sid },
      ]);
      for (const lead of made)
        expect(await leadRow(world, lead)).toMatchObject({
          status: 'waiting',
          contact_attempts: 1,
          claim_id: null,
        });
      expect(await server.settle()).toEqual([200, 200]);
    },
  );

  const blocked = async () =>
    (
      await world.sql(
        `SELECT FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO lead_logs%'`,
      )
    ).length >= 2;
  test('in the first try, or in one after a refusal: it is not sent twice', async () => {
    const lead = await submitted([SMS, { ...SMS, body: 'Next' }]);
    server.trouble([{ status: 429, code: 20429 }]);
    await run(worker());
    expect([server.messages.length, (await leadRow(world, lead)).delay_reason]).toEqual([
      0,
      'carrier',
    ]);
    await hurry();
    await run(worker({ carrier: dying() }));
    expect(bodies()).toEqual(['Hello']);
    await settleAll();
    expect(bodies()).toEqual(['Hello', 'Next']);
    expect(
      (await sentTo(world, 'text_messages', lead)).map(
        ({ carrier_message_id }) => carrier_message_id,
      ),
    ).toEqual(server.messages.map(({ sid }) => sid).toReversed());
  });

  test('after numbers, data and the action changed: the message is found as it was sent', async () => {
    await ownNumber(here, here.company, String(14_155_550_110 + companies));
    const { schedule } = await shopOf([{ ...SMS, body: 'Hi {{first_name}}' }]);
    const to = async (caller_id: string) =>
      (await submit(here, schedule.lead_token, { caller_id, first_name: 'Ann' })).body.id as number;
    const lead = await to('6172000001');
    await run(worker({ carrier: dying() }));
    const [{ sid, from }] = server.messages as [Resource];
    const used = String(from).slice(1);
    await here.company.api('put', `leads/${lead}`, { body: { data: { first_name: 'Zoë' } } });
    // The number that was used is now not the one that waits longest.
    await world.sql(
      `UPDATE numbers SET last_assigned_at = CASE WHEN phone_number = $2 THEN now() END
        WHERE company_id = $1`,
      [here.company.id, used],
    );
    await settleAll();
    expect(server.messages).toHaveLength(1);
    expect(await sentTo(world, 'text_messages', lead)).toMatchObject([
      { body: 'Hi Ann', carrier_message_id: sid, from_number: used },
    ]);
    const [own] = await world.sql<{ id: string }>(
      'SELECT id FROM numbers WHERE company_id = $1 AND phone_number = $2',
      [here.company.id, used],
    );
    expect((await leadRow(world, lead)).sms_number_id).toBe(own!.id);
  });

  test('after the carrier has reported: it is not asked, and the report is recorded', async () => {
    const leads = [
      await submitted([SMS, wait(9)]),
      await submitted([DIAL, wait(9)], { caller_id: '3102000002' }),
    ];
    // Both are on their way before either dies.
    const both = watched(async (phase) => {
      if (phase !== 'after') return;
      await eventually(() => server.asked.length === 2);
      await breakWorkers();
    });
    await run(worker({ carrier: both }));
    expect(await server.settle()).toEqual([200, 200]);
    const asked = server.asked.length;
    await settleAll();
    expect([server.messages.length, server.calls.length, server.asked.length]).toEqual([
      1,
      1,
      asked,
    ]);
    expect(await sentTo(world, 'text_messages', leads[0]!)).toMatchObject([
      { status: 'delivered', carrier_message_id: server.messages[0]!.sid },
    ]);
    expect(await sentTo(world, 'calls', leads[1]!)).toMatchObject([
      { status: 'completed', carrier_call_id: server.calls[0]!.sid },
    ]);
    for (const lead of leads)
      expect(await leadRow(world, lead)).toMatchObject({ status: 'waiting', contact_attempts: 1 });
  });

  test('an e-mail that may have been sent becomes unknown and is not sent again', async () => {
    const lead = await submitted([EMAIL, { ...EMAIL, subject: 'Next' }]);
    const inner = smtp();
    const send: Mailer['send'] = async (mail) => inner.send(mail).finally(breakWorkers);
    await run(worker({ mailer: { ...inner, send } }));
    await settleAll();
    expect(mail.taken.map((text) => /^Subject: (.*)\r$/m.exec(text)![1])).toEqual(['News', 'Next']);
    expect((await sentTo(world, 'emails', lead)).map(({ status }) => status)).toEqual([
      'unknown',
      'sent',
    ]);
  });
});

describe('a carrier that fails', () => {
  test.each<[string, Trouble]>([
    ['is silent', 'hang'],
    ['is silent and has sent it', 'hang after accepting'],
    ['breaks off', 'break'],
    ['breaks off and has sent it', 'break after accepting'],
    ['answers 500', { status: 500 }],
    ['answers 429', { status: 429, code: 20429 }],
    ['does not take the credentials', { status: 401, code: 20003 }],
  ])('%s: it is tried again later, and in the end sent once', async (_, trouble) => {
    const leads = [await submitted([SMS]), await submitted([DIAL], { caller_id: '3102000002' })];
    server.trouble([trouble, trouble]);
    await run(worker());
    for (const lead of leads)
      expect(await leadRow(world, lead)).toMatchObject({ delay_reason: 'carrier', tries: 1 });
    await hurry();
    await run(worker());
    expect([server.messages.length, server.calls.length]).toEqual([1, 1]);
    expect(await sentTo(world, 'text_messages', leads[0]!)).toMatchObject([
      { carrier_message_id: server.messages[0]!.sid },
    ]);
    expect(await sentTo(world, 'calls', leads[1]!)).toMatchObject([
      { carrier_call_id: server.calls[0]!.sid },
    ]);
  });

  test('a mail server that is away is tried again later', async () => {
    const lead = await submitted([EMAIL]);
    await run(worker({ mailer: smtp(`smtp://127.0.0.1:${await freePort()}`) }));
    expect(await sentTo(world, 'emails', lead)).toMatchObject([
      { status: 'sending', error_code: 'unavailable' },
    ]);
    await hurry();
    await run(worker());
    expect([mail.taken.length, (await sentTo(world, 'emails', lead))[0]!.status]).toEqual([
      1,
      'sent',
    ]);
  });
});

describe('while a carrier is at work', () => {
  test('it may report before its answer is recorded: nothing of both is lost', async () => {
    const leads = [
      await submitted([SMS, wait(9)]),
      await submitted([DIAL, wait(9)], { caller_id: '3102000002' }),
    ];
    const reports: Promise<number[]>[] = [];
    const report: Meanwhile = async (phase) => {
      if (phase === 'before') return;
      reports.push(server.settle());
      await setTimeout(150);
    };
    await run(worker({ carrier: watched(report) }));
    expect((await Promise.all(reports)).flat()).toEqual([200, 200]);
    expect(await sentTo(world, 'text_messages', leads[0]!)).toMatchObject([
      { status: 'delivered', carrier_message_id: server.messages[0]!.sid },
    ]);
    expect(await sentTo(world, 'calls', leads[1]!)).toMatchObject([
      { status: 'completed', carrier_call_id: server.calls[0]!.sid },
    ]);
    for (const lead of leads)
      expect(await leadRow(world, lead)).toMatchObject({
        is_live: true,
        claim_id: null,
        contact_attempts: 1,
      });
  });

  test('forty leads opt out: each is texted before that was answered, or never', async () => {
    const { schedule } = await shopOf([SMS, { ...SMS, body: 'Two' }]);
    const numbers = Array.from({ length: 40 }, (_, n) => `31020000${10 + n}`);
    for (const caller_id of numbers) await submit(here, schedule.lead_token, { caller_id });
    const inner = twilio();
    const began: { to: string; at: number }[] = [];
    const sendSms: Carrier['sendSms'] = async (request) => {
      began.push({ to: request.to, at: performance.now() });
      await setTimeout(20);
      return inner.sendSms(request);
    };
    const working = run(worker({ carrier: { ...inner, sendSms } }));
    await eventually(() => began.length >= 8);
    const answered = new Map<string, number>();
    await Promise.all(
      numbers.toReversed().map(async (number) => {
        const { status } = await here.company.api('put', `leads/${number}/caller_opt_out`, {
          auth: null,
          query: { lead_token: schedule.lead_token },
        });
        expect(status).toBe(200);
        answered.set(`+1${number}`, performance.now());
      }),
    );
    await working;
    await settleAll();
    expect(began.filter(({ to, at }) => at > answered.get(to)!)).toEqual([]);
    expect(server.messages.length).toBe(began.length);
    expect(began.length).toBeLessThan(80);
  });

  test('requests for the lead that is being contacted wait; other requests do not', async () => {
    const lead = await submitted([SMS]);
    const other = await submitted([wait(9)], { caller_id: '3102000002' });
    const [begun, held] = [gate(), gate()];
    const working = run(
      worker({
        carrier: watched(async () => {
          begun.open();
          await held.opened;
        }),
      }),
    );
    await begun.opened;
    const put = (id: number) =>
      here.company.api('put', `leads/${id}`, { body: { data: { a: 1 } } });
    let waits = true;
    const of_it = put(lead).finally(() => (waits = false));
    const others = [await put(other)];
    for (const path of [
      `leads/${lead}`,
      `leads/${lead}/timeline`,
      'leads',
      'text_messages',
      'contacts',
    ])
      others.push(await here.company.api('get', path));
    expect([waits, ...others.map(({ status }) => status)]).toEqual([
      true,
      200,
      200,
      200,
      200,
      200,
      200,
    ]);
    held.open();
    await working;
    expect((await of_it).status).toBe(200);
  });

  test('a stop waits for deliveries in progress and releases the other leads', async () => {
    const { schedule } = await shopOf([SMS]);
    for (let n = 0; n < 30; n++)
      await submit(here, schedule.lead_token, { caller_id: `31020000${10 + n}` });
    const engine = startOutreach(worker({ carrier: watched(() => setTimeout(100)) }));
    await eventually(() => server.messages.length >= 4);
    await engine.stop();
    const sent = server.messages.length;
    expect(sent).toBeLessThan(30);
    expect(
      await world.sql(
        `SELECT count(*)::int FROM leads
          WHERE company_id = $1 AND is_live AND claim_id IS NULL AND due_at <= now()`,
        [here.company.id],
      ),
    ).toEqual([{ count: 30 - sent }]);
    await run(worker());
    expect([server.messages.length, new Set(server.messages.map(({ to }) => to)).size]).toEqual([
      30, 30,
    ]);
  });
});
