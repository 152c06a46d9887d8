import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { loadComparable, buildEnvironment, fillAccount, MOVED, serve } from '../../support/move-in';
import { patient } from '../../support/patience';
import { TYPESCRIPT } from '../../support/process';
import { repetitions } from '../../support/repetitions';
import { createWorld, type World } from '../../support/world';
import { leadInsert } from '../../support/write-leads';

// A migration that is killed goes on where it was: the result is that of one that was not.

const ROOT = join(__dirname, '../../..');
/** Runs are killed at these requests: at the n-th for a list, and some ms later. */
const POINTS: [list: string, n: number, ms: number][] = [
  ['phone_numbers', 1, 0],
  ['buyers', 1, 10],
  ['caller_ids', 1, 5],
  ['offers', 1, 20],
  ['schedule_actions', 1, 10],
  ['agents', 1, 0],
  ['outgoing_webhooks', 1, 15],
  ['contacts', 1, 10],
  ['leads', 2, 0],
  ['leads', 2, 15],
];
const CHOSEN = POINTS.slice(-repetitions(2, POINTS.length));
const LEADS = 450;

let from: World;
let to: World;
let server: Server;
let url: string;
let key: string;
/** Paths of the requests of a run, and what is done with one of them. */
let requestedPaths: string[] = [];
let onRequest: (path: string) => void = () => undefined;
const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'migration-'));

beforeAll(async () => {
  [from, to] = [await createWorld(), await createWorld()];
  ({ server, url } = await serve(from.app, (req) => {
    requestedPaths.push(req.url!);
    onRequest(req.url!);
    return false;
  }));
  key = await from.credentials(from.company, [], { superuser: true });
  await fillAccount(from, key);
  await from.sql(
    leadInsert(`INSERT INTO leads
      (company_id, uuid, caller_number, zones, offer_id, status, is_live, entered_at)
      SELECT $1, gen_random_uuid(), 13105560000 + n, '{America/Los_Angeles}', 90, 'completed', false, now()
      FROM generate_series(1, $2::int) n`),
    [from.company.id, LEADS],
  );
  await from.sql(
    `INSERT INTO record_counts (company_id, resource, slot, n) VALUES ($1, 'leads', 99, $2)`,
    [from.company.id, LEADS],
  );
}, patient(20_000));
afterAll(async () => {
  server?.close();
  await from?.close();
  await to?.close();
});

const start = (): ChildProcess =>
  spawn(
    'node',
    [
      ...TYPESCRIPT,
      'src/main/cli/index.ts',
      ...['migrate', '--from', url, '--rate', '1000', '--json'],
      ...['--report', join(folder, 'report.csv')],
    ],
    {
      cwd: ROOT,
      env: {
        ...buildEnvironment(to),
        PATH: process.env.PATH,
        MIGRATE_KEY: key,
      } as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );

/** Runs it to its end, or kills it; returns the exit code, null for a killed one. */
async function run(killAt?: (typeof POINTS)[number]): Promise<number | null> {
  requestedPaths = [];
  const child = start();
  let errors = '';
  child.stderr!.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  const [list, nth, ms] = killAt ?? [];
  onRequest = (path) => {
    const n = requestedPaths.filter((requestedPath) => requestedPath.includes(`/${list}`)).length;
    if (path.includes(`/${list}`) && n === nth) setTimeout(() => child.kill('SIGKILL'), ms);
  };
  const code = await ended;
  if (!killAt && code !== 0) throw new Error(errors);
  return code;
}

test(
  'killed again and again, it moves everything once',
  async () => {
    for (const point of CHOSEN) expect([point, await run(point)]).toEqual([point, null]);
    expect(await run()).toBe(0);
    // It went on with the history, and did not read it again.
    expect(requestedPaths.filter((path) => /\/leads\?.*cursor=-1/.test(path))).toEqual([]);
    for (const resource of MOVED)
      expect([resource, await loadComparable(to, resource)]).toEqual([
        resource,
        await loadComparable(from, resource),
      ]);
    for (const resource of ['leads', 'calls', 'contacts'])
      expect([resource, await total(to, resource)]).toEqual([
        resource,
        await total(from, resource),
      ]);
    expect(await to.sql('SELECT FROM conversions')).toHaveLength(1);
    expect(await to.sql('SELECT FROM migration_positions')).toEqual([]);
  },
  patient(90_000),
);

const total = async (world: World, path: string) => {
  const { body } = await world.company.api('get', path);
  const [counted] = await world.sql(
    `SELECT count(*)::int AS n FROM ${path} WHERE deleted_at IS NULL`,
  );
  expect(counted!.n).toBe(body.metadata.total_count);
  return counted!.n;
};
