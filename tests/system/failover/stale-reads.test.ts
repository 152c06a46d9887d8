import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { migrate } from '../../../src/data/postgres/migrate';
import { Ages, MAX_AGE_MS } from '../../../src/data/postgres/standby';
import { createDeps } from '../../../src/operate/installation/deps';
import { type Deps } from '../../../src/domain/deps';
import { createCompany } from '../../../src/operate/installation/create-company';
import {
  startPrimary,
  startStandby,
  buildUrl,
  type Server as Postgres,
} from '../../support/standby';
import { buildApp, caller, createWorld, testConfig, type Api } from '../../support/world';

// Requests that say `stale_ok` read from a standby, as long as it is not too old; all others, and
// all that fails there, read from the primary.

describe('how old a standby is', () => {
  test('is told by the newest place of the primary that it has reached', () => {
    const ages = new Ages();
    expect(ages.findAge(0)).toBeUndefined();
    ages.recordWritten(100n, 1_000);
    ages.recordShown(99n);
    expect(ages.findAge(1_000)).toBeUndefined();
    ages.recordShown(100n);
    expect(ages.findAge(1_500)).toBe(500);
    ages.recordWritten(200n, 2_000);
    ages.recordWritten(300n, 3_000);
    ages.recordShown(250n);
    expect(ages.findAge(3_500)).toBe(1_500);
  });

  test('is not told past the limit, nor of a standby that cannot be read', () => {
    const ages = new Ages();
    ages.recordWritten(100n, 0);
    ages.recordShown(100n);
    expect(ages.findAge(MAX_AGE_MS)).toBe(MAX_AGE_MS);
    expect(ages.findAge(MAX_AGE_MS + 1)).toBeUndefined();
    ages.recordShown(undefined);
    expect(ages.findAge(1)).toBeUndefined();
  });

  test('begins again with a primary that has less', () => {
    const ages = new Ages();
    ages.recordWritten(500n, 0);
    ages.recordShown(400n);
    ages.recordWritten(300n, 1_000);
    expect(ages.findAge(1_000)).toBe(0);
  });
});

describe('with a standby', () => {
  let primary: Postgres;
  let standby: Postgres;
  let deps: Deps;
  let api: Api;
  beforeAll(async () => {
    primary = await startPrimary();
    await migrate(primary.database.url);
    standby = await startStandby(primary);
    const config = testConfig({
      DATABASE_URL: primary.database.url,
      DATABASE_READ_URL: buildUrl([standby, primary], 'target_session_attrs=prefer-standby'),
    });
    deps = createDeps({ config, database_url: primary.database.url });
    const { credentials } = await createCompany('Stale', deps);
    const auth = `${credentials.public_key}:${credentials.private_key}`;
    api = caller(buildApp(deps) as unknown as Server, auth);
    await createBuyer('first');
    await until(() => deps.standby!.age() !== undefined);
  });
  afterAll(async () => {
    deps.live.close();
    await deps.standby!.close();
    await deps.database.close();
    for (const server of [standby, primary]) await server.database.stop();
  });

  const until = async (isSo: () => boolean | Promise<boolean>) => {
    while (!(await isSo())) await pause(20);
  };
  async function createBuyer(name: string): Promise<void> {
    const res = await api('post', 'buyers', { body: { name, number: '+12125550101' } });
    expect(res.status).toBe(201);
  }
  const ask = async (path: string, query: object) => {
    const res = await api('get', path, { query });
    expect([path, res.status]).toEqual([path, 200]);
    const age = res.headers['x-data-age'] as string | undefined;
    return { body: res.body, text: res.text, age: age === undefined ? age : Number(age) };
  };
  const names = ({ body }: { body: { buyers: { name: string }[] } }) =>
    body.buyers.map(({ name }) => name);
  /** Runs work while replay is paused: the standby shows the state from before it. */
  async function behind(work: () => Promise<void>): Promise<void> {
    const [position] = await primary.sql<{ at: string }>('SELECT pg_current_wal_lsn()::text AS at');
    await until(async () => {
      const [row] = await standby.sql<{ there: boolean }>(
        `SELECT pg_last_wal_replay_lsn() >= '${position!.at}' AS there`,
      );
      return row!.there;
    });
    await standby.sql('SELECT pg_wal_replay_pause()');
    try {
      await work();
    } finally {
      await standby.sql('SELECT pg_wal_replay_resume()');
    }
  }

  test('lists read from it, when the request says so', async () => {
    await behind(async () => {
      await createBuyer('second');
      const stale = await ask('buyers', { stale_ok: true });
      expect(names(stale)).toEqual(['first']);
      expect(stale.body.metadata.total_count).toBe(1);
      expect(stale.age).toBeGreaterThanOrEqual(1);
      for (const query of [{}, { stale_ok: false }]) {
        const fresh = await ask('buyers', query);
        expect([names(fresh), fresh.age]).toEqual([['first', 'second'], undefined]);
      }
    });
    await until(async () => names(await ask('buyers', { stale_ok: true })).length === 2);
  });

  test('exports and reports do, and filtered lists whose counts are remembered', async () => {
    const offer = await api('post', 'offers', { body: { name: 'Auto' } });
    const call = { body: { offer_id: offer.body.offer.id as number } };
    await behind(async () => {
      await createBuyer('exported');
      expect((await api('post', 'call_sessions', call)).status).toBeLessThan(300);
      const csv = await ask('buyers', { stale_ok: true, format: 'csv', columns: 'name' });
      expect([csv.text.includes('exported'), csv.age! > 0]).toEqual([false, true]);
      expect((await ask('buyers', { format: 'csv', columns: 'name' })).text).toContain('exported');
      const report = await ask('calls/reports', { stale_ok: true });
      expect([report.body.totals.calls, report.age! > 0]).toEqual([0, true]);
      expect((await ask('calls/reports', {})).body.totals.calls).toBe(1);
      // Twice, because a count that is asked for again would be saved.
      for (let time = 0; time < 2; time++) {
        const calls = await ask('calls', { stale_ok: true, offer_id: call.body.offer_id });
        expect([calls.body.metadata.total_count, calls.age! > 0]).toEqual([0, true]);
      }
      expect((await ask('calls', { offer_id: call.body.offer_id })).body.metadata.total_count).toBe(
        1,
      );
    });
  });

  test('what the standby cancels is read from the primary, which the answer says', async () => {
    const { searches, prepared, pool } = deps.standby!.database;
    const pools = [searches, prepared, pool];
    const queries = pools.map((connectionPool) => connectionPool.query.bind(connectionPool));
    const conflict = Object.assign(new Error('canceling statement due to conflict with recovery'), {
      code: '40001',
    });
    for (const connectionPool of pools)
      connectionPool.query = () => Promise.reject(conflict) as never;
    try {
      const answer = await ask('buyers', { stale_ok: true });
      expect([names(answer).includes('first'), answer.age]).toEqual([true, 0]);
    } finally {
      pools.forEach((connectionPool, n) => (connectionPool.query = queries[n] as never));
    }
  });

  test('a database that is another one is not read', async () => {
    const otherDeps = createDeps({
      config: testConfig({
        DATABASE_URL: primary.database.url,
        DATABASE_READ_URL: process.env.TRUNKLINE_TEST_DATABASE!,
      }),
      database_url: primary.database.url,
    });
    await pause(1_500);
    expect(otherDeps.standby!.age()).toBeUndefined();
    await otherDeps.standby!.close();
    await otherDeps.database.close();
  });

  test('a standby that is down is not read', async () => {
    await standby.database.stop();
    const answer = await ask('buyers', { stale_ok: true });
    expect(names(answer)).toContain('second');
    const csv = await ask('buyers', { stale_ok: true, format: 'csv', columns: 'name' });
    expect(csv.text).toContain('second');
  });
});

test('without a standby, stale_ok changes nothing', async () => {
  const world = await createWorld();
  const res = await world.company.api('get', 'buyers', { query: { stale_ok: true } });
  expect([res.status, res.headers['x-data-age']]).toEqual([200, '0']);
  await world.close();
});
