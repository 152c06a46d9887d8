import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import pino from 'pino';
import { isAlive } from '../../../src/data/postgres/process-state';
import { loadConfig } from '../../../src/main/config';
import { runServer } from '../../../src/main/server';
import { openInstallation } from '../../../src/operate/installation/open';
import { contract } from '../../../src/platform/contract/contract';
import { runCommand, runRefused } from '../../support/cli';
import { basic, buildApp, caller } from '../../support/world';
import { eventually } from '../../support/engine-process';
import { freePort, startServer, type Running } from '../../support/process';
import { patient } from '../../support/patience';

// A server with a PostgreSQL of its own, which it starts and stops.

const dataDir = join(process.env.TRUNKLINE_TEST_FOLDER!, 'server-data');
const environment = { DATA_DIR: dataDir, DATABASE_TIMEOUT_SECONDS: '2', LOG_LEVEL: 'info' };
mkdirSync(dataDir);
let server: Running;
let auth: string;

const get = (path: string) =>
  fetch(server.url + path, {
    // A connection that is kept may have been closed while a command was run.
    headers: { Authorization: basic(auth), Connection: 'close' },
    signal: AbortSignal.timeout(patient(15_000)),
  });
const postmaster = () =>
  Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);

function connection(): Client {
  const port = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[3];
  return new Client({
    host: '127.0.0.1',
    port: Number(port),
    user: 'trunkline',
    database: 'postgres',
    password: readFileSync(join(dataDir, 'postgres.password'), 'utf8').trim(),
  });
}

afterAll(async () => {
  await server.end('SIGTERM');
});

test('the first start makes a demo company and prints a curl line that works', async () => {
  server = await startServer(environment);
  const text = server.output();
  expect(text).toContain(`${server.url}/api/docs`);
  expect(text).toContain(`Version: ${contract.document.info.version}\n`);
  expect(text).toContain(`Keep ${join(dataDir, 'key_pepper')}: `);
  auth = `${/public key\s+(\S+)/.exec(text)![1]}:${/private key\s+(\S+)/.exec(text)![1]}`;
  const answer = execFileSync('bash', ['-c', /curl .*/.exec(text)![0]], { encoding: 'utf8' });
  expect(JSON.parse(answer).buyers.length).toBeGreaterThanOrEqual(5);
});

test('the log has one line a request, without values of parameters', async () => {
  await get('/api/v1/buyers?number=%2B13105550111&auth_token=ut_secret');
  const findLines = (url: string) =>
    server
      .output()
      .split('\n')
      .filter((line) => line.includes(`"${url}"`));
  // Lines are written in batches.
  await eventually(() => findLines('/api/v1/buyers?number=***&***').length > 0);
  const lines = findLines('/api/v1/buyers?number=***&***');
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({
    method: 'GET',
    status: 200,
    operation: 'listBuyers',
    request_id: expect.any(String),
    ms: expect.any(Number),
  });
  expect(server.output()).not.toMatch(/3105550111|ut_secret/);
  const [, secret] = auth.split(':');
  expect(server.output().split(secret!).length - 1).toBe(2); // the greeting and its curl line
});

/** Runs a command in this process, which reaches the database of the server. */
const run = (...args: string[]) =>
  runCommand(args, { ...environment, PORT: new URL(server.url).port });

test('the operator’s commands work while the server runs', async () => {
  const result = async (...args: string[]) => JSON.parse((await run(...args, '--json')).output);
  const company = await result('company', 'create', '--name', 'Second');
  expect(company).toEqual({
    company_id: expect.any(Number),
    public_key: expect.stringMatching(/^pk_/),
    private_key: expect.any(String),
    owner_link: expect.stringContaining('/console/#/owner?token=own-'),
  });
  const several = await run('token', 'create', '--name', 'x');
  expect([several.code, several.errors]).toEqual([1, expect.stringContaining('--company ID')]);
  const ofCompany = ['--company', String(company.company_id)];
  const user = ['--name', 'Ann', '--user-email', 'ann@example.com', '--permission', 'buyers:read'];
  const token = await result('token', 'create', ...ofCompany, ...user);
  expect(token.token).toMatch(/^ut_/);
  const listed = await result('token', 'list', ...ofCompany);
  expect(listed.map(({ name }: { name: string }) => name)).toEqual(['First key pair', 'Ann']);
  expect(await result('token', 'revoke', token.public_key)).toEqual({ revoked: token.public_key });
  expect((await run('token', 'revoke', token.public_key)).code).toBe(1);
  expect(await result('migrate')).toEqual({ applied: [] });
  const doctor = await run('doctor', '--json');
  expect([doctor.code, JSON.parse(doctor.output).map(({ ok }: { ok: boolean }) => ok)]).toEqual([
    0,
    Array(16).fill(true),
  ]);
  expect((await run('demo', '--name', 'Third', '--json')).output).toContain('public_key');
});

test('a backup of it is restored into an empty folder, but not over what is there', async () => {
  const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'restored-'));
  const file = join(newFolder(), 'trunkline.tar.gz');
  expect(await run('backup', file)).toMatchObject({
    code: 0,
    output: expect.stringContaining(file),
  });
  const restored = { DATA_DIR: newFolder() };
  const restore = () => runCommand(['restore', file], restored);
  expect(await restore()).toMatchObject({ code: 0 });
  const installation = await openInstallation(loadConfig(restored), {
    log: pino({ level: 'silent' }),
  });
  const { status } = await caller(buildApp(installation.deps), auth)('get', 'company');
  await installation.close();
  expect(status).toBe(200);
  expect(await restore()).toMatchObject({
    code: 1,
    errors: expect.stringContaining('The database is not empty'),
  });
});

test('a port that is taken is said plainly, and the database of the other is left running', async () => {
  const { port } = new URL(server.url);
  expect(await runRefused(runServer, { ...environment, PORT: port })).toEqual({
    code: 1,
    output: '',
    errors: `Port ${port} is used by another program. Stop it, or set PORT to another port.`,
  });
  expect((await get('/api/v1/buyers')).status).toBe(200);
});

/** Waits until the service answers 200 again, and checks that this did not take long. */
async function expectRecovery(): Promise<void> {
  const started = Date.now();
  await eventually(async () => {
    const res = await get('/api/v1/buyers?per_page=1').catch(() => undefined);
    return res?.status === 200;
  }, 100);
  expect(Date.now() - started).toBeLessThan(patient(5_000));
}

async function expectUnavailable(): Promise<void> {
  // The last check may be a second old.
  await eventually(async () => (await get('/readyz')).status !== 200, 100);
  const [api, ready, live] = await Promise.all([
    get('/api/v1/buyers'),
    get('/readyz'),
    get('/livez'),
  ]);
  expect([api.status, ready.status, live.status]).toEqual([503, 503, 200]);
  expect(Number(api.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await api.json()).toMatchObject({
    success: false,
    detail: expect.stringContaining('database'),
  });
}

test('a database that hangs: 503 and no hang; well again soon after', async () => {
  await get('/api/v1/buyers');
  const family = () => [
    postmaster(),
    ...execFileSync('pgrep', ['-P', String(postmaster())], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number),
  ];
  const stopped = family();
  stopped.forEach((pid) => process.kill(pid, 'SIGSTOP'));
  await expectUnavailable().finally(() => stopped.forEach((pid) => process.kill(pid, 'SIGCONT')));
  await expectRecovery();
});

/** A stream that nothing comes on. */
async function agentStream(headers: Record<string, string>): Promise<Response> {
  const post = async (path: string, body: object) =>
    (await (
      await fetch(`${server.url}/api/v1/${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
    ).json()) as { token: string };
  await post('agents', { user_email: 'idle@example.com' });
  await post('access_control_lists', {
    name: 'Agents',
    users_emails: ['idle@example.com'],
    permissions: ['agent_messages:read'],
  });
  const { token } = await post('access_tokens', {
    name: 'idle',
    kind: 'user_token',
    user_email: 'idle@example.com',
  });
  return fetch(`${server.url}/api/v1/agent_messages/stream`, {
    headers: { Authorization: `Token ${token}` },
  });
}

test('a start after kill -9 of the server finds the database that still runs', async () => {
  const before = postmaster();
  await server.end('SIGKILL');
  // Time enough for the next test's request, which waits for a lock.
  server = await startServer({ ...environment, DATABASE_TIMEOUT_SECONDS: '60' });
  expect((await get('/api/v1/buyers')).status).toBe(200);
  expect(postmaster()).toBe(before);
});

test('SIGTERM: requests in flight are answered, streams end, all stops in 10 s', async () => {
  const [buyer] = (
    (await (await get('/api/v1/buyers?columns=id')).json()) as { buyers: { id: number }[] }
  ).buyers;
  const headers = { Authorization: basic(auth), 'Content-Type': 'application/json' };
  const stream = await agentStream(headers);
  const holder = connection();
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM buyers WHERE id = $1 FOR UPDATE', [buyer!.id]);
  const waiting = fetch(`${server.url}/api/v1/buyers/${buyer!.id}`, {
    method: 'PUT',
    headers,
    body: '{"tier":3}',
  });
  await eventually(
    async () => (await holder.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount,
  );
  const started = Date.now();
  const ended = server.end('SIGTERM');
  await new Promise((done) => setTimeout(done, 100));
  // Ctrl-C under npm arrives twice, within a second.
  if (Date.now() - started < 500) server.child.kill('SIGTERM');
  // The stream ends when the server stops.
  expect(await stream.text()).toMatch(/^retry: \d+\nid: 0\n\n/);
  await holder.query('ROLLBACK');
  await holder.end();
  const res = await waiting;
  expect([res.status, await res.json()]).toMatchObject([200, { buyer: { tier: 3 } }]);
  // A server that needs longer than ten seconds exits with 1.
  expect(await ended).toBe(0);
  expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);
});

test('a second start finds its data and says so; the credentials are as before', async () => {
  server = await startServer(environment);
  expect(server.output()).toContain('Found its data');
  expect(server.output()).not.toContain('private key');
  expect((await get('/api/v1/me')).status).toBe(200);
});

test('a start after kill -9 of the server and of the database recovers', async () => {
  const database = postmaster();
  await server.end('SIGKILL');
  process.kill(database, 'SIGKILL');
  await eventually(() => !isAlive(database));
  server = await startServer({ ...environment, PORT: String(await freePort()) });
  expect((await get('/api/v1/buyers')).status).toBe(200);
});
