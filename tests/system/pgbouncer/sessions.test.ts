import type { Pool } from 'pg';
import type { Deps } from '../../../src/domain/deps';
import { POOLED, pooledSettings, type Pooled } from '../../../src/data/postgres/session-settings';
import { isUnavailable } from '../../../src/api/reply/database-errors';
import { missingPgBouncer, startPgBouncer, type PgBouncer } from '../../support/pgbouncer';
import { repetitions } from '../../support/repetitions';
import { createWorld, reachDatabases, type World } from '../../support/world';

// Behind a PgBouncer in transaction mode, sessions pass from connection to connection, and each
// pool's settings hold in all of them.

const SESSIONS = 2;
const TIMEOUT_SECONDS = 4;
const STATEMENTS = repetitions(400, 4_000);

const missing = missingPgBouncer();
if (missing) test.skip(`sessions behind PgBouncer: ${missing}`, () => undefined);
else {
  let pgbouncer: PgBouncer;
  let world: World;
  let deps: Deps;
  beforeAll(async () => {
    pgbouncer = await startPgBouncer({
      default_pool_size: String(SESSIONS),
      query_wait_timeout: '1',
    });
    reachDatabases((url, environment) => pgbouncer.serve(url, environment));
    world = await createWorld({
      environment: { DATABASE_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS) },
    });
    ({ deps } = world);
  });
  afterAll(async () => {
    await world.close();
    await pgbouncer.stop();
  });

  const readSettings = async (pool: Pool, names: readonly string[]) => {
    const { rows } = await pool.query<{ pid: number; settings: Record<string, string> }>({
      name: 'tests.settings',
      text: `SELECT pg_backend_pid() AS pid,
          (SELECT jsonb_object_agg(name, setting) FROM pg_settings WHERE name = ANY($1)) AS settings,
          pg_sleep(0.01)::text`,
      values: [names],
    });
    return rows[0]!;
  };

  const expectedSettings = pooledSettings(TIMEOUT_SECONDS * 1000);
  test.each(POOLED)('%s: more connections than sessions, each set as it must be', async (name) => {
    const pool: Pool = deps.database[name];
    const settings = { ...expectedSettings[name], TimeZone: 'UTC' };
    const results = await Promise.all(
      Array.from({ length: 40 }, () => readSettings(pool, Object.keys(settings))),
    );
    for (const result of results) expect(result.settings).toEqual(settings);
    const sessions = new Set(results.map(({ pid }) => pid));
    expect(sessions.size).toBeLessThanOrEqual(SESSIONS);
    // The credentials have two connections, so there each may have a session.
    expect(pool.totalCount).toBeGreaterThanOrEqual(name === 'credentials' ? 2 : 4);
  });

  test('no pool has a session of another', async () => {
    const pids = await Promise.all(
      POOLED.map(async (name) => (await readSettings(deps.database[name], [])).pid),
    );
    expect(new Set(pids).size).toBe(POOLED.length);
  });

  test('what takes long has sessions of its own, and ends with its process', async () => {
    const names = ['TimeZone', 'client_connection_check_interval', 'statement_timeout'];
    for (const name of ['streams', 'bulk'] as const) {
      const client = await deps.database[name].connect();
      const pid = async () => (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
      expect(new Set([await pid(), await pid(), await pid()]).size).toBe(1);
      client.release();
      expect((await readSettings(deps.database[name], names)).settings).toEqual({
        TimeZone: 'UTC',
        client_connection_check_interval: '2000',
        statement_timeout: '0',
      });
    }
  });

  const readErrorCode = (work: Promise<unknown>) =>
    work.then(
      () => 'none',
      ({ code }: { code: string }) => code,
    );

  test('batched statements fail on a locked row; others wait, for their time', async () => {
    await world.sql('CREATE TABLE locked AS SELECT 1 AS id');
    await world.sql('BEGIN');
    await world.sql('SELECT id FROM locked FOR UPDATE');
    const lock = (name: Pooled) =>
      readErrorCode(deps.database[name].query('UPDATE locked SET id = 2'));
    const codes = await Promise.all([lock('batched'), lock('searches'), lock('prepared')]);
    expect(codes.slice(0, 2)).toEqual(['55P03', '57014']);
    // The process gives up at the same time as PostgreSQL.
    expect(['57014', undefined]).toContain(codes[2]);
    await world.sql('ROLLBACK');
  });

  test('statements that were prepared in one session run in the others', async () => {
    const ask = (n: number) =>
      deps.database.prepared.query<{ n: number }>({
        name: `tests.statement_${n % 20}`,
        text: `SELECT $1::int + ${n % 20} AS n`,
        values: [n],
      });
    const answers = await Promise.all(Array.from({ length: STATEMENTS }, (_, n) => ask(n)));
    expect(answers.map(({ rows }) => rows[0]!.n)).toEqual(
      Array.from({ length: STATEMENTS }, (_, n) => n + (n % 20)),
    );
  });

  test('who waits too long for a session is told to come again', async () => {
    const held = await Promise.all(
      Array.from({ length: SESSIONS }, () => deps.database.searches.connect()),
    );
    for (const client of held) await client.query('BEGIN');
    const refused = await deps.database.searches.query('SELECT 1').catch((error: Error) => error);
    for (const client of held) {
      await client.query('ROLLBACK');
      client.release();
    }
    expect([(refused as Error).message, isUnavailable(refused)]).toEqual([
      'query_wait_timeout',
      true,
    ]);
  });

  test('sessions that end are replaced: requests get 503 at most, and go on', async () => {
    const statuses = new Set<number>();
    for (let round = 0; round < repetitions(5, 100); round++) {
      await world.sql(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity ' +
          'WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
      for (let n = 0; n < 5; n++) statuses.add((await world.company.api('get', 'buyers')).status);
    }
    expect([...statuses].filter((status) => status !== 503)).toEqual([200]);
    expect((await world.company.api('get', 'buyers')).status).toBe(200);
  });
}
