import { createWorld, type World } from '../support/world';

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
