import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { eventually } from '../../support/engine-process';
import { startServer, type Running } from '../../support/process';

// A server that can only read its database is not ready: a balancer sends requests elsewhere.

const dataDir = join(process.env.TRUNKLINE_TEST_FOLDER!, 'unwritable-database');
let server: Running;
let client: Client;
beforeAll(async () => {
  mkdirSync(dataDir);
  server = await startServer({ DATA_DIR: dataDir });
  const lines = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
  client = new Client({
    host: '127.0.0.1',
    port: Number(lines[3]),
    user: 'trunkline',
    database: 'postgres',
    password: readFileSync(join(dataDir, 'postgres.password'), 'utf8').trim(),
  });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await server.end('SIGTERM');
});

const loadReadiness = async () => {
  const res = await fetch(`${server.url}/readyz`);
  const text = await res.text();
  return { status: res.status, text, ...(res.ok ? {} : (JSON.parse(text) as { detail: string })) };
};
const isReady = async () => (await loadReadiness()).status === 200;
const isNotReady = async () => !(await isReady());

test('/readyz is 503 while the database can only be read, and says so', async () => {
  expect(await loadReadiness()).toEqual({ status: 200, text: 'ok\n' });
  const setReadOnly = async (value: string) => {
    await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await client.query('SELECT pg_reload_conf()');
  };
  await setReadOnly('on');
  await eventually(isNotReady);
  expect(await loadReadiness()).toMatchObject({
    status: 503,
    detail: expect.stringContaining('can only be read'),
  });
  expect((await fetch(`${server.url}/livez`)).status).toBe(200);
  await setReadOnly('off');
  await eventually(isReady);
});

test('/readyz is 503 while the disk of the database is full, and says so', async () => {
  const { rows } = await client.query<{ source: string }>(
    `SELECT pg_get_functiondef('check_writes'::regproc) AS source`,
  );
  await client.query(
    `CREATE OR REPLACE FUNCTION check_writes() RETURNS void LANGUAGE plpgsql AS
     $$BEGIN RAISE SQLSTATE '53100' USING MESSAGE = 'could not extend file'; END$$`,
  );
  await eventually(isNotReady);
  expect(await loadReadiness()).toMatchObject({ status: 503, code: 'disk_full' });
  await client.query(rows[0]!.source);
  await eventually(isReady);
});

test('what is written to find out is taken back, and asked at most once a second', async () => {
  const findLeftovers = () => client.query('SELECT FROM processes WHERE length(host) > 1000');
  const started = await pages(client);
  await Promise.all(Array.from({ length: 200 }, loadReadiness));
  expect((await findLeftovers()).rowCount).toBe(0);
  expect((await pages(client)) - started).toBeLessThan(50);
});

/** Pages of the TOAST table of `processes`, of which each check needs at least one. */
async function pages(db: Client): Promise<number> {
  const { rows } = await db.query<{ pages: number }>(
    `SELECT (pg_relation_size(reltoastrelid) / 8192)::int AS pages
     FROM pg_class WHERE oid = 'processes'::regclass`,
  );
  return rows[0]!.pages;
}
