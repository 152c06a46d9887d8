import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/engine-process';
import { freePort, pgCtl, runScript, startServer, type Running } from '../../support/process';

// The embedded PostgreSQL comes back by itself, and nothing takes it from the server.

const dataDir = join(process.env.TRUNKLINE_TEST_FOLDER!, 'lost-database');
const environment = { DATA_DIR: dataDir, DATABASE_TIMEOUT_SECONDS: '2' };
let server: Running;
beforeAll(async () => {
  mkdirSync(dataDir);
  server = await startServer(environment);
});
afterAll(() => server.end('SIGTERM'));

const postmaster = () => {
  const lines = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
  return { pid: Number(lines[0]), port: lines[3] };
};
const isReady = () =>
  fetch(`${server.url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

test.each<[string, () => void]>([
  ['is stopped', () => pgCtl(dataDir, 'stop', '-m', 'immediate')],
  ['is killed', () => process.kill(postmaster().pid, 'SIGKILL')],
])('a database that %s is started again by its server, on its port', async (_, end) => {
  const earlier = postmaster();
  const restarts = () =>
    server.output().split('the database had ended and was started again').length;
  const before = restarts();
  end();
  await eventually(() => restarts() > before);
  await eventually(isReady, 100);
  expect(postmaster().port).toBe(earlier.port);
  expect(postmaster().pid).not.toBe(earlier.pid);
});

test('a command that comes first starts it on the port of its server, and leaves it', async () => {
  const { port } = postmaster();
  process.kill(postmaster().pid, 'SIGKILL');
  runScript('src/main/cli/index.ts', ['doctor'], environment);
  await eventually(isReady, 100);
  expect(postmaster().port).toBe(port);
});

test('doctor tells what the server sees, not what a connection of its own does', async () => {
  const doctor = (port: string) =>
    runScript('src/main/cli/index.ts', ['doctor'], { ...environment, PORT: port }).output;
  expect(doctor(new URL(server.url).port)).toMatch(/served, and ready/);
  const port = String(await freePort());
  const withoutDatabase = spawn(process.execPath, [
    '-e',
    `http.createServer((q, r) => r.writeHead(q.url === '/livez' ? 200 : 503).end()).listen(${port})`,
  ]);
  try {
    await eventually(() => fetch(`http://127.0.0.1:${port}/livez`).catch(() => undefined), 50);
    expect(doctor(port)).toMatch(/cannot write to its database \(\/readyz: 503\)/);
  } finally {
    withoutDatabase.kill();
  }
});
