import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { basic } from '../../support/world';
import { eventually } from '../../support/engine-process';
import { freePort, runScript, startServer, type Running } from '../../support/process';
import { patient } from '../../support/patience';

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

test('the operator’s commands work while the server runs', () => {
  const cli = (...args: string[]) => runScript('src/main/cli/index.ts', args, environment);
  const company = JSON.parse(cli('company', 'create', '--name', 'Second', '--json').output);
  expect(company).toEqual({
    company_id: expect.any(Number),
    public_key: expect.stringMatching(/^pk_/),
    private_key: expect.any(String),
  });
  const several = cli('token', 'create', '--name', 'x');
  expect([several.code, several.errors]).toEqual([1, expect.stringContaining('--company ID')]);
  const token = JSON.parse(
    cli(
      'token',
      'create',
      '--company',
      String(company.company_id),
      '--name',
      'Ann',
      '--user-email',
      'ann@example.com',
      '--permission',
      'buyers:read',
      '--json',
    ).output,
  );
  expect(token.token).toMatch(/^ut_/);
  const listed = JSON.parse(
    cli('token', 'list', '--company', String(company.company_id), '--json').output,
  );
  expect(listed.map(({ name }: { name: string }) => name)).toEqual(['First key pair', 'Ann']);
  expect(JSON.parse(cli('token', 'revoke', token.public_key, '--json').output)).toEqual({
    revoked: token.public_key,
  });
  expect(cli('token', 'revoke', token.public_key).code).toBe(1);
  expect(JSON.parse(cli('migrate', '--json').output)).toEqual({ applied: [] });
  const doctor = runScript('src/main/cli/index.ts', ['doctor', '--json'], {
    ...environment,
    PORT: new URL(server.url).port,
  });
  expect([doctor.code, JSON.parse(doctor.output).map(({ ok }: { ok: boolean }) => ok)]).toEqual([
    0,
    Array(15).fill(true),
  ]);
  expect(cli('demo', '--name', 'Third', '--json').output).toContain('public_key');
});

test('every fault of the configuration is named at once', () => {
  const wrong = runScript('src/main/server.ts', [], {
    PORT: 'x',
    DATABASE_URL: 'mysql://x',
    KEY_PEPPER: 'short',
    LOG_LEVEL: 'loud',
    DATABASE_POOL_SIZE: '0',
  });
  expect(wrong.code).toBe(1);
  for (const name of ['PORT', 'DATABASE_URL', 'KEY_PEPPER', 'LOG_LEVEL', 'DATABASE_POOL_SIZE'])
    expect(wrong.errors).toContain(`- ${name} `);
  const doctor = runScript('src/main/cli/index.ts', ['doctor'], { PORT: 'x', KEY_PEPPER: 'short' });
  expect([doctor.code, doctor.output.match(/WRONG/g)]).toEqual([1, ['WRONG', 'WRONG']]);
});

test('a port that is taken is said plainly, and the database of the other is left running', () => {
  const second = runScript('src/main/server.ts', [], {
    ...environment,
    PORT: new URL(server.url).port,
  });
  expect([second.code, second.errors]).toEqual([
    1,
    expect.stringMatching(/Port \d+ is used by another program/),
  ]);
  expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(true);
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

test('SIGTERM: requests in flight are answered, streams end, all stops in 10 s', async () => {
  // Time enough for the request that waits for a lock.
  await server.end('SIGTERM');
  server = await startServer({ ...environment, DATABASE_TIMEOUT_SECONDS: '60' });
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

test('a start after kill -9 of the server, and of the database too, recovers', async () => {
  await server.end('SIGKILL');
  server = await startServer(environment);
  expect((await get('/api/v1/buyers')).status).toBe(200);
  const database = postmaster();
  await server.end('SIGKILL');
  process.kill(database, 'SIGKILL');
  await new Promise((done) => setTimeout(done, 500));
  server = await startServer({ ...environment, PORT: String(await freePort()) });
  expect((await get('/api/v1/buyers')).status).toBe(200);
});
