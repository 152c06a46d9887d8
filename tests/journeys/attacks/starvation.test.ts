import { Client } from 'pg';
import { statementName, template } from '../../../src/data/statement';
import { repetitions } from '../../support/repetitions';
import { createWorld, type Company, type World } from '../../support/world';

// One company that keeps its statements running as long as it can takes nothing from another. Locks
// make its statements slow: one on a table that only it reads, and those on its own records.

let world: World;
let a: Company;
let b: Company;
let lock: Client;

beforeAll(async () => {
  world = await createWorld({ environment: { DATABASE_POOL_SIZE: '8' } });
  a = world.company;
  b = await world.addCompany('Other');
  lock = new Client({ connectionString: world.url });
  await lock.connect();
});
afterEach(() => lock.query('ROLLBACK'));
afterAll(async () => {
  await lock.end();
  await world.close();
});

interface Shop {
  buyer: number;
  offer: number;
}

async function createShop({ api }: Company): Promise<Shop> {
  const buyer = await api('post', 'buyers', { body: { name: 'Acme', number: '+13105550111' } });
  const { id } = buyer.body.buyer;
  const offer = await api('post', 'offers', { body: { name: 'Auto', buyer_ids: [id] } });
  return { buyer: id, offer: offer.body.offer.id };
}

const call = ({ api }: Company, { offer }: Shop, n = 0) =>
  api('post', 'call_sessions', {
    body: { offer_id: offer, caller_number: `+1310555${1000 + n}` },
  });

/** Sends requests without waiting for their answers. */
function flood(requests: (() => Promise<{ status: number; body: { code?: string } }>)[]) {
  const statuses: (string | number)[] = [];
  const all = Promise.all(
    requests.map(async (send) => {
      const { status, body } = await send();
      statuses.push(body.code ?? status);
    }),
  );
  return { statuses, all };
}

const times = <T>(many: number, build: (n: number) => T): T[] =>
  Array.from({ length: many }, (_, n) => build(n));

/** Waits until so many statements of the application wait for a lock. */
async function waitForLocks(many: number): Promise<void> {
  for (;;) {
    const [row] = await world.sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if (row!.n >= many) return;
    await new Promise((done) => setTimeout(done, 20));
  }
}

test('slow searches, lists, writes and calls of a company leave those of another alone', async () => {
  const [shop, otherShop] = [await createShop(a), await createShop(b)];
  await lock.query('BEGIN');
  await lock.query('LOCK TABLE call_centers IN ACCESS EXCLUSIVE MODE');
  await lock.query('SELECT FROM buyers WHERE company_id = $1 FOR UPDATE', [String(a.id)]);
  await lock.query('SELECT FROM offers WHERE company_id = $1 FOR UPDATE', [String(a.id)]);
  const attack = flood([
    ...times(60, () => () => a.api('get', 'call_centers', { query: { fulltext: '3' } })),
    ...times(60, () => () => a.api('get', 'call_centers')),
    ...times(30, (n) => () => a.api('put', `buyers/${shop.buyer}`, { body: { tier: n % 9 } })),
    ...times(30, (n) => () => a.api('put', `offers/${shop.offer}`, { body: { name: `A ${n}` } })),
    ...times(60, (n) => () => call(a, shop, n)),
  ]);
  // Half of each kind of connection: of searches, lists and writes.
  await waitForLocks(2 + 2 + 2);

  for (let n = 0; n < 5; n++) {
    const answers = await Promise.all([
      b.api('get', 'me'),
      b.api('get', 'buyers', { query: { fulltext: 'acme' } }),
      b.api('get', 'buyers', { query: { page: 2 } }),
      b.api('get', 'buyers'),
      b.api('get', `buyers/${otherShop.buyer}`),
      b.api('get', 'calls/reports'),
      b.api('put', `buyers/${otherShop.buyer}`, { body: { tier: n } }),
      b.api('post', 'buyers', { body: { name: `More ${n}`, number: '+13105550112' } }),
      b.api('post', 'leads/capture', {
        body: { caller_id: `+1310555${2000 + n}`, offer_id: otherShop.offer },
      }),
      call(b, otherShop, n),
      b.api('get', 'buyers', { query: { format: 'csv' } }),
    ]);
    const failed = answers.filter(({ status }) => status >= 300);
    expect(failed.map(({ status, text }) => [status, text.slice(0, 200)])).toEqual([]);
  }
  // All of that while none of the attacker's requests was done.
  expect(attack.statuses.filter((status) => typeof status === 'number')).toEqual([]);

  await lock.query('ROLLBACK');
  await attack.all;
  const allowed = [200, 201, 'too_many_at_once', 'search_too_slow', 'unavailable', 'contended'];
  expect(attack.statuses.filter((status) => !allowed.includes(status))).toEqual([]);
});

test('a search that takes too long is stopped, and the answer says what to narrow', async () => {
  const quick = await createWorld({ environment: { DATABASE_TIMEOUT_SECONDS: '1' } });
  const client = new Client({ connectionString: quick.url });
  await client.connect();
  await client.query('BEGIN; LOCK TABLE call_centers IN ACCESS EXCLUSIVE MODE');
  const { api } = quick.company;
  const response = await api('get', 'call_centers', { query: { fulltext: 'desk' } });
  expect([response.status, response.body.code]).toEqual([503, 'search_too_slow']);
  expect(response.body.detail).toMatch(/Narrow it: a shorter period \(created_at_from/);
  expect(response.headers['retry-after']).toBe('5');
  await client.query('ROLLBACK');
  await client.end();
  await quick.close();
});

test('a company has two exports at a time, and another one has its own', async () => {
  await lock.query('BEGIN');
  await lock.query('LOCK TABLE numbers IN ACCESS EXCLUSIVE MODE');
  const csv = (company: Company, path: string) =>
    company.api('get', path, { query: { format: 'csv' } });
  const slow = [csv(a, 'phone_numbers'), csv(a, 'phone_numbers')];
  await waitForLocks(2);
  for (const path of ['phone_numbers', 'buyers', 'calls/reports']) {
    const refused = await csv(a, path);
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_at_once']);
    expect(refused.headers['retry-after']).toBe('10');
    expect((await csv(b, 'buyers')).status).toBe(200);
  }
  await lock.query('ROLLBACK');
  expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await csv(a, 'buyers')).status).toBe(200);
});

/** Statements that the connections of a pool have prepared. */
async function listPrepared(): Promise<string[][]> {
  const pool = world.deps.database.prepared;
  const clients = await Promise.all(times(pool.options.max, () => pool.connect()));
  const texts = await Promise.all(
    clients.map(async (client) => {
      const { rows } = await client.query('SELECT statement FROM pg_prepared_statements');
      return rows.map(({ statement }) => statement as string);
    }),
  );
  for (const client of clients) client.release();
  return texts;
}

/** More statements than are remembered. */
const VARIATIONS = 719;

test('columns in 719 variations do not use up the names of prepared statements', async () => {
  const names = 'id name number paused tier weight created_at updated_at time_zone uuid'.split(' ');
  const variations = times(VARIATIONS, (n) => names.filter((_, at) => ((n + 1) >> at) & 1));
  const requested = repetitions(40, VARIATIONS);
  // The others stand in for variations that the requests of a company have composed.
  for (let n = requested; n < VARIATIONS; n++)
    for (let time = 0; time < 2; time++) statementName(`SELECT ${n} AS variation`);
  for (const columns of variations.slice(0, requested))
    for (let n = 0; n < 2; n++)
      expect((await a.api('get', 'buyers', { query: { columns: columns.join() } })).status).toBe(
        200,
      );
  const mine = { columns: 'id,user_buyer_id' };
  for (let n = 0; n < 3; n++) await b.api('get', 'buyers', { query: mine });
  const texts = (await listPrepared()).flat();
  const isMine = (text: string) => text.includes('"user_buyer_id"') && !text.includes('"number"');
  expect(texts.filter(isMine)).not.toEqual([]);
});

test('what is asked for once is not prepared, and a connection with many plans is replaced', async () => {
  const pool = world.deps.database.prepared;
  const once = template('SELECT 1 AS asked_once', { prepared: true });
  await pool.query(once({}));
  expect((await listPrepared()).flat()).not.toContain('SELECT 1 AS asked_once');
  await pool.query(once({}));
  expect((await listPrepared()).flat()).toContain('SELECT 1 AS asked_once');
  for (let n = 0; n < 1_000; n++) {
    const varied = template(`SELECT ${n} AS varied`, { prepared: true });
    for (let time = 0; time < 2; time++) await pool.query(varied({}));
  }
  const counts = (await listPrepared()).map((texts) => texts.length);
  expect(Math.max(...counts)).toBeLessThan(1_000);
});
