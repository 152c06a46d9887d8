import { Client } from 'pg';
import { createWorld, type World } from '../../support/world';

// Plans that were made for an empty table do not stay when it fills: it is analyzed soon.

let world: World;
let client: Client;
beforeAll(async () => {
  world = await createWorld();
  client = new Client({ connectionString: world.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await world.close();
});

async function insertRows(count: number): Promise<void> {
  await client.query('INSERT INTO grows SELECT generate_series(1, $1::int)', [count]);
  // A session reports what it has written within a second, or when it is asked to.
  await client.query('SELECT pg_stat_force_next_flush()');
  await client.query('SELECT 1');
}
const countKnownRows = async () =>
  (await client.query<{ n: number }>(`SELECT reltuples AS n FROM pg_class WHERE relname = 'grows'`))
    .rows[0]!.n;
const analyze = () => client.query('SELECT analyze_grown_tables()');

test('a table is analyzed when it has tripled, and not before', async () => {
  await client.query('CREATE TABLE grows (id int) WITH (autovacuum_enabled = off)');
  await client.query('VACUUM ANALYZE grows');
  await insertRows(40);
  await analyze();
  expect(await countKnownRows()).toBe(0);
  await insertRows(60);
  await analyze();
  expect(await countKnownRows()).toBe(100);
  await insertRows(150);
  await analyze();
  expect(await countKnownRows()).toBe(100);
  await insertRows(51);
  await analyze();
  expect(await countKnownRows()).toBe(301);
});
