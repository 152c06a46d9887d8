import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pino from 'pino';
import {
  cancelDistribution,
  distribute,
  planDistribution,
} from '../../../src/operate/cells/distribute';
import { listCells } from '../../../src/operate/cells/manage';
import { migrateCells } from '../../../src/operate/cells/migrate-cells';
import { openDeps } from '../../../src/operate/cells/open-deps';
import { migrate } from '../../../src/data/postgres/migrate';
import { closeDeps, createDeps } from '../../../src/operate/installation/deps';
import { type Deps } from '../../../src/domain/deps';
import { createCompany } from '../../../src/operate/installation/create-company';
import { prepareQueue } from '../../../src/data/jobs/queue';
import { makeClusterDatabase, onCluster, run } from '../../support/citus';
import { TYPESCRIPT } from '../../support/process';
import { buildApp, caller, testConfig, type Api } from '../../support/world';

// A database with records becomes a distributed one: all answers are as before. Whatever happens in
// between, it is distributed completely or works as before.

const progress = { filled: () => undefined };
/** Calls that are not over become longer. */
const now = new Date();
const still = { clock: () => now, log: pino({ level: 'silent' }) };

onCluster(() => {
  let url: string;
  let auths: string[];
  const open: Deps[] = [];

  const use = async (openWith: typeof openDeps | typeof createDeps): Promise<Api[]> => {
    const config = testConfig({ DATABASE_URL: url });
    const deps = await openWith({ config, database_url: url, ...still });
    open.push(deps);
    const app = buildApp(deps);
    return auths.map((auth) => caller(app, auth));
  };
  const close = async () => {
    for (const deps of open.splice(0)) {
      deps.live.close();
      await closeDeps(deps);
    }
  };
  const LISTS = ['calls', 'leads', 'offers', 'buyers', 'schedules', 'agent_statuses', 'users'];
  const loadAnswers = async (apis: Api[]) =>
    Promise.all(
      apis.flatMap((api) => LISTS.map(async (path) => (await api('get', path)).body[path])),
    );

  beforeEach(async () => {
    const name = `trunkline_test_${process.env.TRUNKLINE_TEST_RUN}_${randomBytes(4).toString('hex')}`;
    url = await makeClusterDatabase(name);
    await migrate(url);
    await prepareQueue(url);
    auths = [];
    const config = testConfig({ DATABASE_URL: url });
    const deps = createDeps({ config, database_url: url, ...still });
    open.push(deps);
    for (const name of ['One', 'Two', 'Three']) {
      const { credentials } = await createCompany(name, deps);
      auths.push(`${credentials.public_key}:${credentials.private_key}`);
    }
    const app = buildApp(deps);
    for (const auth of auths) await fill(caller(app, auth));
    await close();
  });
  afterEach(close);

  /** Calls, leads and a job that waits. */
  async function fill(api: Api): Promise<void> {
    const post = async (path: string, body: object) => (await api('post', path, { body })).body;
    const { buyer } = await post('buyers', { name: 'B', number: '+12125550199' });
    const { offer } = await post('offers', { name: 'O', buyer_ids: [buyer.id] });
    const { schedule } = await post('schedules', { name: 'S', offer_id: offer.id });
    for (const end of ['01', '02', '03']) {
      await post('call_sessions', { offer_id: offer.id, caller_number: `+12135550${end}0` });
      await post('leads', { lead_token: schedule.lead_token, caller_id: `+12135551${end}0` });
    }
    const { buyer_suppression } = await post('buyer_suppressions', { name: 'L' });
    await api('delete', `buyer_suppressions/${buyer_suppression.id}`);
  }

  /** Looks without being one of those that use the database. */
  const look = <Row extends object>(text: string): Promise<Row[]> =>
    run<Row>(`${url}?application_name=trunkline%20distribute`, text);

  const command = (...args: string[]): ChildProcess =>
    spawn('node', [...TYPESCRIPT, 'src/main/cli/index.ts', ...args], {
      cwd: join(__dirname, '../../..'),
      env: { PATH: process.env.PATH, DATABASE_URL: url } as unknown as NodeJS.ProcessEnv,
      stdio: 'ignore',
    });

  test('all records answer as before, new ones have new ids, and jobs that waited run', async () => {
    const before = await loadAnswers(await use(createDeps));
    await close();
    const planned = await planDistribution(url, 2);
    expect(planned.cells.map(({ companies }) => companies.length).toSorted()).toEqual([1, 2]);
    await distribute(url, { cells: 2, progress });
    const apis = await use(openDeps);
    expect(await loadAnswers(apis)).toEqual(before);
    for (const api of apis) {
      const existingOffers = (await api('get', 'offers')).body.offers as { id: number }[];
      const response = await api('post', 'offers', { body: { name: 'New' } });
      expect(response.status).toBe(201);
      expect(existingOffers.map(({ id }) => id)).not.toContain(response.body.offer.id);
    }
    const jobs = 'SELECT count(*)::int AS n FROM jobs.job';
    const jobCounts = await Promise.all(
      open[0]!.parts().map(({ database }) => database.pool.query(jobs)),
    );
    expect(jobCounts.map(({ rows }) => rows[0].n).toSorted()).toEqual([1, 2]);
    expect(await run(url, jobs)).toEqual([{ n: 0 }]);
  });

  test('while others use the database, or distribute it, it is refused', async () => {
    const apis = await use(createDeps);
    expect((await apis[0]!('get', 'offers')).status).toBe(200);
    await expect(distribute(url, { cells: 2, progress })).rejects.toThrow(
      'Others use this database',
    );
    await close();
    const [first, second] = await Promise.allSettled([
      distribute(url, { cells: 2, progress }),
      distribute(url, { cells: 2, progress }),
    ]);
    const statuses = [first.status, second.status].toSorted();
    expect(statuses).toEqual(['fulfilled', 'rejected']);
    expect((await listCells(url)).map(({ state }) => state)).toEqual(['open', 'open']);
  });

  test('a distribution that was killed is completed, also with another plan', async () => {
    const before = await loadAnswers(await use(createDeps));
    await close();
    const child = command('distribute', '--cells', '2', '--apply');
    const filled = "SELECT FROM directory.cells WHERE state = 'filled'";
    const has = "SELECT to_regclass('directory.cells') IS NOT NULL AS yes";
    while (!(await look<{ yes: boolean }>(has))[0]!.yes) await pause(50);
    while ((await look(filled)).length === 0) await pause(50);
    child.kill('SIGKILL');
    await new Promise((done) => child.once('exit', done));
    await expect(use(openDeps)).rejects.toThrow('not distributed completely');
    await distribute(url, { cells: 3, progress });
    expect(await loadAnswers(await use(openDeps))).toEqual(before);
  });

  test('a distribution that was killed can be canceled: the database works as before', async () => {
    const before = await loadAnswers(await use(createDeps));
    await close();
    const child = command('distribute', '--cells', '2', '--apply');
    const has = "SELECT to_regclass('cell_1.calls') IS NOT NULL AS yes";
    while (!(await look<{ yes: boolean }>(has))[0]!.yes) await pause(20);
    child.kill('SIGKILL');
    await new Promise((done) => child.once('exit', done));
    await cancelDistribution(url);
    const apis = await use(openDeps);
    expect(await loadAnswers(apis)).toEqual(before);
    expect((await apis[0]!('post', 'offers', { body: { name: 'New' } })).status).toBe(201);
    await expect(cancelDistribution(url)).rejects.toThrow('No distribution was begun');
  });

  test('cells whose functions are of another version get those of this one', async () => {
    await distribute(url, { cells: 2, progress });
    const has = `SELECT count(*)::int AS n FROM run_command_on_workers(
      $$SELECT to_regproc('cell_1_local.record_call_change') IS NOT NULL$$) WHERE result = 't'`;
    await run(url, "COMMENT ON TABLE cell_1._prisma_migrations IS 'functions of another version'");
    const drop = 'DROP FUNCTION IF EXISTS cell_1_local.record_call_change';
    await run(url, `SELECT run_command_on_workers($$${drop}$$)`);
    expect(await run(url, has)).toEqual([{ n: 0 }]);
    await migrateCells(url);
    expect(await run(url, has)).toEqual([{ n: 1 }]);
    const [api] = await use(openDeps);
    expect((await api!('get', 'calls')).body.calls.length).toBe(3);
  });
});
