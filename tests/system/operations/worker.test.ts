import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { loadConfig } from '../../../src/main/config';
import { createCompany } from '../../../src/operate/installation/create-company';
import { openInstallation } from '../../../src/operate/installation/open';
import { eventually } from '../../support/engine-process';
import { freePort, startWorker, type Running } from '../../support/process';
import { freshDatabase, PEPPER_OF_TESTS } from '../../support/world';

// WORKER_METRICS_PORT: a worker shows its health and metrics, and nothing else.

const METRICS_TOKEN = 'a-token-of-the-metrics';
let environment: Record<string, string>;
let worker: Running;
beforeAll(async () => {
  environment = {
    DATABASE_URL: await freshDatabase(),
    DATA_DIR: mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'worker-')),
    KEY_PEPPER: PEPPER_OF_TESTS,
    METRICS_TOKEN,
    WORKER_METRICS_PORT: String(await freePort()),
  };
  worker = await startWorker(environment);
});
afterAll(() => worker.end('SIGKILL'));

const get = (path: string, token = METRICS_TOKEN): Promise<Response> =>
  fetch(`http://127.0.0.1:${environment.WORKER_METRICS_PORT}${path}`, {
    headers: { Authorization: `Bearer ${token}` },
  });

/** Adds a job that any company may have. */
async function addJob(): Promise<void> {
  const config = loadConfig(environment);
  const installation = await openInstallation(config, {
    kind: 'worker',
    log: pino({ level: 'silent' }),
  });
  const { deps } = installation;
  const { company_id } = await createCompany('Company', deps);
  await deps.tenants
    .of(company_id)
    .transaction((tx) =>
      deps.queue.add(tx, 'forget_number', { company_id: String(company_id), id: '1' }),
    );
  await installation.close();
}

test('it is alive and ready', async () => {
  expect(await (await get('/livez')).text()).toBe('ok\n');
  expect(await (await get('/readyz')).text()).toBe('ok\n');
});

test('Prometheus reads the jobs that it has run, with the token of the servers', async () => {
  expect((await get('/metrics', 'another-token-of-metrics')).status).toBe(401);
  const page = await (await get('/metrics')).text();
  expect(page).toContain('trunkline_processes{role="worker"} 1\n');
  expect(page).toContain('trunkline_database_up 1\n');
  await addJob();
  await eventually(
    async () =>
      (await (await get('/metrics')).text()).includes(
        'trunkline_job_duration_seconds_count{kind="forget_number",result="done"} 1\n',
      ),
    100,
  );
});

test.each(['/', '/api/v1/me', '/console/', '/api/docs/'])('it does not serve %s', async (path) => {
  const answer = await get(path);
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ code: 'unknown_path' });
});

test('another one on its port is refused in one line', async () => {
  const port = environment.WORKER_METRICS_PORT!;
  await expect(startWorker(environment)).rejects.toThrow(
    `ended with 1: Port ${port} is used by another program. ` +
      'Stop it, or set WORKER_METRICS_PORT to another port.\n',
  );
});

test('it ends by itself when it is told to', async () => {
  expect(await worker.end('SIGTERM')).toBe(0);
  await expect(get('/livez')).rejects.toThrow();
});
