import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { openCarrier } from '../../../src/platform/carriers';
import type { Carrier } from '../../../src/platform/carriers/carrier';
import type { Deps } from '../../../src/domain/deps';
import { processDueLeads } from '../../../src/domain/outreach/due-leads';
import { buildWorkers } from '../../support/engine-process';
import {
  DIAL,
  EMAIL,
  fillSchedule,
  openShop,
  SMS,
  submit,
  wait,
  type Shop,
} from '../../support/leads';
import { repetitions } from '../../support/repetitions';
import { buildApp, caller, createWorld, type World } from '../../support/world';

let world: World;
/** The world as a company of the test's own sees it. */
let here: World;
const workers = buildWorkers(() => world);
const servers: Server[] = [];
beforeAll(async () => {
  world = await createWorld({ environment: { DATABASE_POOL_SIZE: '20' } });
});
beforeEach(async () => {
  here = { ...world, company: await world.addCompany() };
});
afterEach(async () => {
  await workers.closeAll();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});
afterAll(() => world.close());

const ANY_TIME = { daylight_hours: '00:00..23:59' };
/** Dependencies as a process of its own would have them. */
const worker = (carrier?: Carrier): Deps => workers.open(carrier && { carrier });
async function startListening(deps: Deps): Promise<string> {
  const server = createServer(buildApp(deps));
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
/** In npm test workers claim few leads at a time, so that they meet also over few leads. */
const BATCH_SIZE = repetitions(40, 0) || undefined;
/** Runs all due steps, as one worker would. */
async function runWorker(deps: Deps): Promise<number> {
  let all = 0;
  for (const { database } of deps.parts())
    for (let n = 1; n > 0; all += n)
      n = await processDueLeads({ ...deps, database }, { batch_size: BATCH_SIZE });
  return all;
}
const createShop = (actions: object[], fields: object = {}): Promise<Shop> =>
  openShop(here, actions as never, { ...ANY_TIME, ...fields }, here.company);
const count = async (text: string, ...values: unknown[]): Promise<number> =>
  Number((await world.sql<{ n: string }>(text, [here.company.id, ...values]))[0]!.n);

test('twenty simultaneous submissions of one number, over two servers, make one lead', async () => {
  const shop = await createShop([wait(1), SMS]);
  const urls = await Promise.all([startListening(world.deps), startListening(worker())]);
  for (const leadToken of [shop.schedule.lead_token, shop.offer.lead_token]) {
    const query = { lead_token: leadToken, caller_id: '3105550123', first_name: 'Ann' };
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) => caller(urls[n % 2]!, null)('post', 'leads', { query })),
    );
    expect(all.map(({ status }) => status).toSorted()).toEqual([...Array(19).fill(200), 201]);
    expect(new Set(all.map(({ body }) => body.id)).size).toBe(1);
  }
  expect(await count('SELECT count(*) AS n FROM leads WHERE company_id = $1')).toBe(2);
  expect((await here.company.api('get', 'leads')).body.metadata.total_count).toBe(2);
});

/** Counts the rows of the company. */
const rows = (table: string, condition = 'true') =>
  count(`SELECT count(*) AS n FROM ${table} WHERE company_id = $1 AND ${condition}`);
/** Counts the pairs of a lead and an action. */
const distinctSteps = (table: string) =>
  count(
    `SELECT count(DISTINCT (lead_id, schedule_action_id)) AS n
      FROM ${table}
      WHERE company_id = $1`,
  );

test('four workers on many leads do every step of each once', async () => {
  const leads = repetitions(200, 10_000);
  const shop = await createShop([SMS, { ...SMS, body: 'And' }, EMAIL, { action_type: 'exit' }]);
  await fillSchedule(here, shop.schedule.id, {
    first: 12_122_000_000,
    count: leads,
    now: new Date(),
  });
  await world.sql(
    `UPDATE leads
      SET email = 'ann@example.com', lead_priority = CASE WHEN id % 2 = 0 THEN id % 7 END
      WHERE company_id = $1`,
    [here.company.id],
  );
  await Promise.all([1, 2, 3, 4].map(() => runWorker(worker())));
  expect(
    await world.sql(
      `SELECT status, is_live, due_at, claim_id, step, count(*)::int
        FROM leads
        WHERE company_id = $1
        GROUP BY 1, 2, 3, 4, 5`,
      [here.company.id],
    ),
  ).toEqual([
    { status: 'completed', is_live: false, due_at: null, claim_id: null, step: 3, count: leads },
  ]);
  for (const table of ['text_messages', 'emails'])
    expect(await distinctSteps(table)).toBe(table === 'emails' ? leads : 2 * leads);
  expect(await rows('text_messages')).toBe(2 * leads);
  expect(await rows('contacts', 'sms_count = 2 AND emails_count = 1')).toBe(leads);
  const resources = ['text_messages', 'emails', 'contacts'];
  for (const table of resources) {
    const rowCount = await rows(table);
    expect([
      table,
      await count(
        'SELECT sum(n) AS n FROM record_counts WHERE company_id = $1 AND resource = $2',
        table,
      ),
    ]).toEqual([table, rowCount]);
  }
});

describe('nothing is sent to a number once it has been answered that it', () => {
  /** Notes when it begins to send to which number, and takes its time. */
  const noting = (instant: boolean) => {
    const sentTexts: { key: string; to: string; at: number }[] = [];
    const inner = openCarrier('sandbox');
    const sendSms: Carrier['sendSms'] = async (request) => {
      sentTexts.push({ key: request.key, to: request.to, at: performance.now() });
      if (!instant) await setTimeout(Math.random() * 4);
      return inner.sendSms(request);
    };
    return { sentTexts, carrier: { ...inner, instant, sendSms } };
  };

  type Stop = (number: string, shop: Shop) => Promise<{ status: number }>;
  const by =
    (method: 'put' | 'delete', verb: string): Stop =>
    (number, { schedule }) =>
      here.company.api(method, `leads/${number}/${verb}`, {
        auth: null,
        query: { lead_token: schedule.lead_token },
      });
  const block: Stop = (number) =>
    here.company.api('post', 'contacts/caller_block', { body: { caller_ids: [number] } });
  const answer: Stop = (number) =>
    here.company.api('post', 'text_messages/receive', {
      body: { from: number, to: '2125550100', body: 'STOP' },
    });

  test.each<[string, number, boolean, Stop]>([
    ['has opted out', repetitions(40, 500), true, by('put', 'caller_opt_out')],
    ['has opted out', repetitions(20, 500), false, by('put', 'caller_opt_out')],
    ['was removed', repetitions(15, 100), false, by('delete', 'caller_remove')],
    ['was blocked', repetitions(15, 100), false, block],
    ['has answered STOP', repetitions(15, 100), false, answer],
  ])('%s (%i times, sent to by a carrier that is instant: %s)', async (_, times, instant, stop) => {
    const shop = await createShop([
      SMS,
      { ...SMS, body: 'Two' },
      wait(0, 'seconds'),
      { ...SMS, body: 'Three' },
      wait(1, 'seconds'),
      { ...SMS, body: 'Four' },
    ]);
    const { sentTexts, carrier } = noting(instant);
    here = {
      ...here,
      company: {
        ...here.company,
        api: caller(await startListening(world.deps), here.company.auth),
      },
    };
    let over = false;
    const engines = [worker(carrier), worker(carrier)].map(async (deps) => {
      // The next batch follows one that the database rejected, like in a separate process.
      while (!over) if ((await processDueLeads(deps).catch(() => 0)) === 0) await setTimeout(10);
    });
    const stopped = new Map<string, number>();
    const numbers = Array.from(
      { length: times },
      (_, n) => `+1310200${String(n).padStart(4, '0')}`,
    );
    const lane = async (laneNumbers: string[]) => {
      for (const number of laneNumbers) {
        const { status } = await submit(here, shop.schedule.lead_token, { caller_id: number });
        await setTimeout(Math.random() * (instant ? 30 : 200));
        expect([status, Math.floor((await stop(number, shop)).status / 100)]).toEqual([201, 2]);
        stopped.set(number, performance.now());
      }
    };
    // No test stops this number: on a slow machine, all others may be stopped before their first
    // text.
    const untouched = '+13102009999';
    stopped.set(untouched, Infinity);
    await submit(here, shop.schedule.lead_token, { caller_id: untouched });
    await Promise.all(
      Array.from({ length: 10 }, (_, n) => lane(numbers.filter((_, index) => index % 10 === n))),
    );
    while (!sentTexts.some(({ to }) => to === untouched)) await setTimeout(50);
    await setTimeout(1_500);
    // A worker that lost its claim on a slow machine leaves the recording to a later one.
    while ((await rows('leads', 'due_at IS NOT NULL')) > 0) await setTimeout(50);
    over = true;
    await Promise.all(engines);
    expect(sentTexts.filter(({ to, at }) => at > stopped.get(to)!)).toEqual([]);
    expect(sentTexts.length).toBeGreaterThan(0);
    // Sent texts are recorded, and nothing else.
    const delivered = "direction = 'outbound' AND status = 'delivered' AND in_reply_to_id IS NULL";
    expect(await rows('text_messages', delivered)).toBe(
      new Set(sentTexts.map(({ key }) => key)).size,
    );
    expect(await rows('leads', 'due_at IS NOT NULL')).toBe(0);
  });
});

test('four workers contact all leads of one number; its contact counts each message', async () => {
  const numbers = repetitions(60, 300);
  const shops = [];
  for (let n = 0; n < 5; n++)
    shops.push(
      await createShop([{ ...SMS, body: `From ${n}` }, DIAL, { ...SMS, body: `And ${n}` }]),
    );
  const now = new Date();
  for (const { schedule } of shops)
    await fillSchedule(here, schedule.id, { first: 12_122_000_000, count: numbers, now });
  // Not in the order of numbers.
  await world.sql(
    `UPDATE leads
      SET due_at = due_at - (id * 7919 % 1000) * interval '1 second'
      WHERE company_id = $1`,
    [here.company.id],
  );
  await Promise.all([1, 2, 3, 4].map(() => runWorker(worker())));
  expect(await rows('contacts', 'sms_count = 10 AND calls_count = 5')).toBe(numbers);
  expect(await distinctSteps('text_messages')).toBe(10 * numbers);
  expect(await rows('text_messages')).toBe(10 * numbers);
});

test('no lead of a number is contacted after one of its schedules opts it out', async () => {
  const numbers = repetitions(60, 250);
  const now = new Date();
  const shops = [];
  for (let n = 0; n < 4; n++)
    shops.push(
      await createShop(
        n === 2 ? [{ action_type: 'opt_out' }, SMS] : [SMS, { ...SMS, body: 'Two' }],
      ),
    );
  for (const { schedule } of shops)
    await fillSchedule(here, schedule.id, { first: 12_122_000_000, count: numbers, now });
  await world.sql(
    `UPDATE leads
      SET due_at = due_at - (id * 7919 % 1000) * interval '1 second'
      WHERE company_id = $1`,
    [here.company.id],
  );
  await Promise.all([1, 2, 3, 4].map(() => runWorker(worker())));
  // Without statistics the question below may be answered row by row.
  await world.sql('ANALYZE leads, lead_logs');
  // Logs of one number are written under the lock of its contact, one after the other.
  const late = `SELECT count(*) AS n
    FROM lead_logs s
    JOIN leads l ON l.company_id = s.company_id AND l.id = s.lead_id
    JOIN leads x ON x.company_id = l.company_id AND x.caller_number = l.caller_number
    JOIN lead_logs o ON o.company_id = x.company_id AND o.lead_id = x.id
    WHERE s.company_id = $1
      AND s.event = 'sms_sent'
      AND o.message = 'by its schedule'
      AND s.id > o.id`;
  expect(await count(late)).toBe(0);
  expect(await rows('text_messages')).toBeGreaterThan(0);
  expect(await rows('leads', "is_live AND status <> 'opt_out'")).toBe(0);
  expect(await rows('contacts', 'opt_out')).toBe(numbers);
});
