import { Client } from 'pg';
import { eventually } from '../../support/engine-process';
import { buildApp, basic, createWorld, type World } from '../../support/world';

// A company has a few exports at a time: none of them is lost by how it ends.

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
// The connections that are not given back keep it open: this hook fails too.
afterAll(() => world.close(), 10_000);

test('a slot of exports is free again after an error of the statement', async () => {
  const { api } = world.company;
  const statuses: number[] = [];
  await world.sql('ALTER TABLE buyer_groups RENAME COLUMN paused TO was_paused');
  for (let n = 0; n < 2; n++) statuses.push((await api('get', 'buyer_groups.csv')).status);
  await world.sql('ALTER TABLE buyer_groups RENAME COLUMN was_paused TO paused');
  statuses.push((await api('get', 'buyer_groups.csv')).status);
  statuses.push((await api('get', 'calls.csv')).status);
  const [row] = await world.sql<{ n: string }>(
    `SELECT count(*) AS n FROM pg_stat_activity WHERE query LIKE 'COPY%' AND datname = current_database()`,
  );
  expect([statuses, row!.n]).toEqual([[500, 500, 200, 200], '1']);
}, 30_000);

test('a slot of exports is free again after HEAD', async () => {
  const { api } = world.company;
  const statuses: number[] = [];
  for (let n = 0; n < 4; n++)
    statuses.push((await api('head', 'buyers', { query: { format: 'csv' } })).status);
  statuses.push((await api('get', 'buyers.csv')).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200]);
}, 20_000);

test('a slot of exports is free again when the client leaves before the first row', async () => {
  const server = buildApp(world.deps).listen(0);
  const { port } = server.address() as { port: number };
  const lock = new Client({ connectionString: world.url });
  await lock.connect();
  await lock.query('BEGIN; LOCK TABLE buyers IN ACCESS EXCLUSIVE MODE');
  const url = `http://127.0.0.1:${port}/api/v1/buyers?format=csv`;
  const headers = { Authorization: basic(world.company.auth) };
  const ask = (ms: number) =>
    fetch(url, { headers, signal: AbortSignal.timeout(ms) }).then(
      (res) => res.status,
      () => 0,
    );
  const left = await Promise.all([ask(500), ask(500)]);
  // Not 429: it waits for the lock, as the others did.
  let later: number | undefined;
  await eventually(async () => (later = await ask(500)) !== 429);
  await lock.query('ROLLBACK');
  await lock.end();
  server.closeAllConnections();
  server.close();
  expect([left, later]).toEqual([[0, 0], 0]);
}, 30_000);
