import { Client } from 'pg';
import { type Deps } from '../../../src/domain/deps';
import { buildApp, caller, type Company } from '../../support/world';
import { useWorld } from '../../support/use-world';

// The share of connections that a company has in each process is its share in the fleet.

const POOL_SIZE = 8;
const PROCESSES = 3;
/** Half of the connections for lists of each process, which are half of its pool size. */
const SHARE = POOL_SIZE / 4;

const world = useWorld();
const opened: Deps[] = [];
beforeAll(() => {
  for (let n = 0; n < PROCESSES; n++)
    opened.push(world.openProcess({ DATABASE_POOL_SIZE: String(POOL_SIZE) }));
});

const countWaiting = async (): Promise<number> => {
  const [row] = await world.sql<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row!.n;
};

test('a company that floods all processes has its share of their connections together', async () => {
  const [flooding, otherCompany] = [world.company, await world.addCompany()];
  const apps = opened.map((deps) => buildApp(deps));
  const buildApis = ({ auth }: Company) => apps.map((app) => caller(app, auth));
  const lock = new Client({ connectionString: world.url });
  await lock.connect();
  await lock.query('BEGIN');
  await lock.query('LOCK TABLE call_centers IN ACCESS EXCLUSIVE MODE');
  const flood = buildApis(flooding).flatMap((api) =>
    Array.from({ length: 40 }, () => api('get', 'call_centers')),
  );
  while ((await countWaiting()) < PROCESSES * SHARE)
    await new Promise((done) => setTimeout(done, 20));
  for (let n = 0; n < 5; n++)
    for (const api of buildApis(otherCompany))
      expect((await api('get', 'buyers')).status).toBe(200);
  expect(await countWaiting()).toBe(PROCESSES * SHARE);
  await lock.query('ROLLBACK');
  await lock.end();
  const codes = new Set((await Promise.all(flood)).map(({ status, body }) => body.code ?? status));
  expect([...codes].filter((code) => code !== 200 && code !== 'too_many_at_once')).toEqual([]);
});
