import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/engine-process';
import { patient } from '../../support/patience';
import { runScript, startServer, type Running } from '../../support/process';
import { basic } from '../../support/world';

// WEB_CONCURRENCY: one server of several processes.

const dataDir = join(process.env.TRUNKLINE_TEST_FOLDER!, 'processes-data');
mkdirSync(dataDir);
const METRICS_TOKEN = 'a-token-of-the-metrics';
const environment = { DATA_DIR: dataDir, WEB_CONCURRENCY: '2', METRICS_TOKEN };
let server: Running;
let auth: string;

/** Each request has a connection of its own, so that the processes take turns. */
const send = (path: string, { headers = {}, ...more }: RequestInit = {}) =>
  fetch(server.url + path, {
    headers: { Authorization: basic(auth), Connection: 'close', ...headers },
    ...more,
  });

/** None while all have died: then ps fails. */
const listChildren = (pid: number): number[] =>
  spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .stdout.split('\n')
    .flatMap((line) => (line.trim() ? Number(line) : []));
const processes = () =>
  listChildren(server.child.pid!).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('processes/child'),
  );
const readNiceness = (pid: number) =>
  Number(execFileSync('ps', ['-o', 'ni=', '-p', String(pid)], { encoding: 'utf8' }));
const isRunning = (pid: number) => existsSync(`/proc/${pid}/cmdline`);
const postmaster = join(dataDir, 'postgres/postmaster.pid');

async function metrics(): Promise<string> {
  const headers = { Authorization: `Bearer ${METRICS_TOKEN}` };
  return (await send('/metrics', { headers })).text();
}

/** How many lists of buyers were answered, as this page of metrics says. */
async function countLists(): Promise<number> {
  const page = await metrics();
  const ofLists = /count\{operation="listBuyers",method="GET",status_class="2xx"\} (\d+)/;
  return Number(ofLists.exec(page)?.[1] ?? 0);
}

/** Lists the buyers so often, and waits until each answer is counted. */
async function list(times: number): Promise<void> {
  const before = await countLists();
  for (let n = 0; n < times; n++)
    expect((await send('/api/v1/buyers?per_page=1')).status).toBe(200);
  await eventually(async () => (await countLists()) === before + times, 50);
}

beforeAll(async () => {
  server = await startServer(environment);
  const text = server.output();
  auth = `${/public key\s+(\S+)/.exec(text)![1]}:${/private key\s+(\S+)/.exec(text)![1]}`;
});
afterAll(() => server.end('SIGTERM'));

test('it starts once: one greeting, one demo company, two processes and that of the jobs', () => {
  const text = server.output();
  expect(text.match(/Trunkline is up/g)).toHaveLength(1);
  expect(text).toContain('Processes that answer requests: 2\n');
  expect(text.match(/A demo company was made/g)).toHaveLength(1);
  const priorities = processes().map(readNiceness);
  expect(priorities).toHaveLength(3);
  // Only the process of the jobs gives way.
  expect(priorities.filter((nice) => nice >= 10)).toHaveLength(1);
});

test('/metrics is the sum over the processes, whichever is asked', async () => {
  await list(20);
  const pages = await Promise.all(Array.from({ length: 8 }, countLists));
  expect(new Set(pages)).toEqual(new Set([20]));
});

test('gauges add up over the processes, except those of the database, which all of them share', async () => {
  const page = await metrics();
  for (const [role, n] of Object.entries({ primary: 1, web: 2, jobs: 1 }))
    expect(page).toContain(`trunkline_processes{role="${role}"} ${n}\n`);
  expect(page).toContain('trunkline_database_up 1\n');
  expect(page.match(/^trunkline_jobs_waiting\{kind="forget_number"\} \d+$/gm)).toHaveLength(1);
});

test('a process that is killed is started again; counts do not go back', async () => {
  const before = await countLists();
  const noticed = () => server.output().match(/a process has ended and is started again/g)?.length;
  const killed = processes();
  const [first, ...rest] = killed;
  process.kill(first!, 'SIGKILL');
  await eventually(() => noticed() === 1);
  await list(5);
  for (const pid of rest) process.kill(pid, 'SIGKILL');
  await eventually(() => noticed() === 3);
  await eventually(() => send('/livez').then(Boolean, () => false), 50);
  await list(5);
  expect(await countLists()).toBe(before + 10);
  await eventually(() => processes().length === 3);
  expect(processes().filter((pid) => killed.includes(pid))).toEqual([]);
});

test('jobs are run: also those that were added while their process was dead', async () => {
  const headers = { 'Content-Type': 'application/json' };
  const listResponse = await send('/api/v1/buyer_suppressions', {
    method: 'POST',
    headers,
    body: '{"name":"List"}',
  });
  const { buyer_suppression } = (await listResponse.json()) as {
    buyer_suppression: { id: number };
  };
  const jobs = processes().find((pid) => readNiceness(pid) >= 10)!;
  process.kill(jobs, 'SIGKILL');
  const form = new FormData();
  form.set('buyer_suppression_id', String(buyer_suppression.id));
  form.set('import_file', new Blob(['3105550101\n3105550102\n']), 'numbers.csv');
  const fileResponse = await send('/api/v1/buyer_suppression_files', {
    method: 'POST',
    body: form,
  });
  expect(fileResponse.status).toBe(201);
  const { buyer_suppression_file: file } = (await fileResponse.json()) as {
    buyer_suppression_file: { id: number };
  };
  await eventually(async () => {
    const shown = await send(`/api/v1/buyer_suppression_files/${file.id}`);
    return (await shown.text()).includes('"status":"succeeded"');
  }, 100);
});

test('SIGHUP replaces all processes, and no request fails', async () => {
  const before = processes();
  const statuses: (number | string)[] = [];
  let done = false;
  const ask = async (headers: Record<string, string>) => {
    while (!done)
      statuses.push(
        await send('/api/v1/buyers?per_page=1', { headers }).then(
          (res) => res.text().then(() => res.status),
          String,
        ),
      );
  };
  const asking = [ask({}), ask({ Connection: 'keep-alive' }), ask({ Connection: 'keep-alive' })];
  server.child.kill('SIGHUP');
  // A child must not take it for a stop.
  for (const pid of before) process.kill(pid, 'SIGHUP');
  await eventually(() => server.output().includes('all processes were replaced'), 100);
  done = true;
  await Promise.all(asking);
  expect(new Set(statuses)).toEqual(new Set([200]));
  const after = processes();
  expect([after.length, after.filter((pid) => before.includes(pid))]).toEqual([3, []]);
  expect(server.output()).not.toContain('a process cannot be replaced');
});

test('Ctrl-C reaches all processes, twice under npm: requests are answered, all end', async () => {
  const pids = processes();
  const uploaded = send('/api/v1/buyers?per_page=1');
  const all = [server.child.pid!, ...pids];
  const started = Date.now();
  for (const pid of all) process.kill(pid, 'SIGINT');
  await new Promise((done) => setTimeout(done, 100));
  for (const pid of all) if (isRunning(pid)) process.kill(pid, 'SIGINT');
  expect(await server.end('SIGINT')).toBe(0);
  expect(Date.now() - started).toBeLessThan(patient(10_000));
  expect((await uploaded).status).toBe(200);
  expect([pids.filter(isRunning), existsSync(postmaster)]).toEqual([[], false]);
});

test('without the first process the others end at once', async () => {
  server = await startServer(environment);
  const pids = processes();
  expect(pids).toHaveLength(3);
  await server.end('SIGKILL');
  await eventually(() => !pids.some(isRunning));
});

test('RUN_JOBS=false: there is no process for jobs', async () => {
  server = await startServer({ ...environment, RUN_JOBS: 'false' });
  expect(server.output()).toContain('are left to: npm run worker');
  expect(processes()).toHaveLength(2);
});

test('one line: more connections than its own PostgreSQL allows', () => {
  const { code, output, errors } = runScript('src/main/server.ts', [], {
    DATA_DIR: join(dataDir, 'none'),
    WEB_CONCURRENCY: '40',
    DATABASE_POOL_SIZE: '50',
  });
  expect([code, output]).toEqual([1, '']);
  expect(errors).toMatch(
    /^WEB_CONCURRENCY=40: with DATABASE_POOL_SIZE=50, .* 5286 connections, .* 2000 at most, .*\n$/,
  );
  expect(existsSync(join(dataDir, 'none'))).toBe(false);
});

test('one line: its own PostgreSQL was started by another process, for fewer', async () => {
  const { code, output, errors } = runScript('src/main/server.ts', [], {
    DATA_DIR: dataDir,
    PORT: '14812',
    WEB_CONCURRENCY: '8',
  });
  expect([code, output]).toEqual([1, '']);
  expect(errors).toMatch(/^WEB_CONCURRENCY=8: .* was started by another process with \d+; .*\n$/);
});
