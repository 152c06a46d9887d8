import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { Client } from 'pg';
import { createRunners } from '../../../src/main/background/runners';
import { startWorkers, type Workers } from '../../../src/data/jobs/workers';
import { acceptStorage, readMark } from '../../../src/operate/installation/storage-mark';
import { openDirectory } from '../../../src/platform/storage/directory';
import { eventually } from '../../support/engine-process';
import {
  buildRows,
  expectConsistent,
  expectExact,
  loadRun,
  uploadImport,
  waitForRun,
  waitUntilEnded,
  type ImportSite,
  type ListImport,
  type Run,
} from '../../support/exact-imports';
import { buildEnvironment, kill, startJobProcess } from '../../support/job-process';
import { startOnOwnPostgres } from '../../support/own-postgres';
import { patient } from '../../support/patience';
import { startServer, startWorker, type Running } from '../../support/process';
import { repetitions } from '../../support/repetitions';
import { breakAfter, startS3, type S3Server } from '../../support/s3-server';
import { createWorld, type World } from '../../support/world';

// An import adds exactly the numbers of its file, and its counts are exact, whatever goes away.

const ROWS = 40_000;
const FEW_ROWS = 100;

let s3: S3Server;
let served: World;
let folder: World;
let bucket: World;
let ownPostgres: Awaited<ReturnType<typeof startOnOwnPostgres>>;
beforeAll(async () => {
  s3 = await startS3({ prefix: 'trunkline' });
  [served, folder, bucket, ownPostgres] = await Promise.all([
    createWorld(),
    createWorld(),
    createWorld({ environment: s3.environment }),
    startOnOwnPostgres(),
  ]);
});
beforeEach(() => {
  s3.hook = () => false;
});
afterAll(async () => {
  await Promise.all([server?.end('SIGKILL'), endWorkers()]);
  await Promise.all([served, folder, bucket, ownPostgres].map(({ close }) => close()));
  await s3.close();
});

type Installation = Pick<World, 'database' | 'deps'>;

const toSite = ({ company, sql }: World): ImportSite => ({ api: company.api, sql });

let server: Running | undefined;
let workers: ChildProcess[] = [];

async function endWorkers(): Promise<void> {
  await Promise.all(workers.map(kill));
  workers = [];
}

async function useServer(): Promise<void> {
  server ??= await startServer(buildEnvironment(served));
}

/** Starts workers, which alone run jobs from then on. */
async function useWorkers(n: number, installation: Installation): Promise<void> {
  await endWorkers();
  const environment = buildEnvironment(installation);
  workers = await Promise.all(Array.from({ length: n }, () => startJobProcess(environment)));
}

/** Something that goes away while imports need it. */
interface Harm {
  site: () => ImportSite;
  /** Starts what imports; without it the imports wait until `act` does so. */
  start?: () => Promise<void>;
  act: (imports: ListImport[]) => Promise<void>;
  /** Imports at once, and rows of each of them. */
  imports?: number;
  rows?: number;
  /** When to act; once the first numbers were imported by default. */
  isUnderWay?: (run: Run) => boolean;
  /** How often it has to hit an import. */
  times?: number;
}

async function killServer([target]: ListImport[]): Promise<void> {
  const { url, end } = server!;
  server = undefined;
  const killedAt = Date.now();
  await end('SIGKILL');
  await expectConsistent(target!);
  const before = await loadRun(target!);
  server = await startServer({ ...buildEnvironment(served), PORT: new URL(url).port });
  await waitForRun(target!, ({ progress }) => progress > before.progress);
  expect(Date.now() - killedAt).toBeLessThan(patient(10_000));
}

async function stopServer([target]: ListImport[]): Promise<void> {
  const { end } = server!;
  server = undefined;
  const [code, worker] = await Promise.all([end('SIGTERM'), startWorker(buildEnvironment(served))]);
  // A server that needs longer than ten seconds exits with 1.
  expect(code).toBe(0);
  await waitUntilEnded(target!);
  expect(await worker.end('SIGTERM')).toBe(0);
}

const KILLS_OF_IMPORT = repetitions(1, 2);
const killPoints = fc.sample(
  fc.record({ share: fc.double({ min: 0, max: 0.6, noNaN: true }), delay: fc.nat(40) }),
  { numRuns: 100, seed: Number(process.env.FUZZ_SEED ?? 20_261_121) },
);

async function killAtRandomPoints([target]: ListImport[]): Promise<void> {
  for (const { share, delay } of killPoints.splice(0, KILLS_OF_IMPORT)) {
    await waitForRun(target!, ({ progress }) => progress >= share * target!.rows.length);
    await pause(delay);
    await kill(workers[0]!);
    await expectConsistent(target!);
    const { run_id } = await loadRun(target!);
    await useWorkers(1, folder);
    await waitForRun(target!, (run) => run.run_id !== run_id);
  }
}

/** Waits until a statement waits for a lock of this kind or no longer, or the import has ended. */
const waitForLock = (target: ListImport, kind: string, isAwaited = true): Promise<void> =>
  eventually(async () => {
    const waiting = await target.site.sql(
      `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = $1`,
      [kind],
    );
    return waiting.length > 0 === isAwaited || (await loadRun(target)).status === 'succeeded';
  });

/**
 * Suspends a worker whose transaction has numbers that are not counted yet. It goes on when another
 * one has taken over the file, and adds the same numbers.
 */
async function suspendWorker([target]: ListImport[]): Promise<void> {
  const first = workers[0]!;
  const holder = new Client({ connectionString: folder.url });
  await holder.connect();
  await holder.query('BEGIN; LOCK TABLE buyer_suppression_numbers IN SHARE MODE');
  try {
    await waitForLock(target!, 'relation');
    first.kill('SIGSTOP');
    workers.push(await startJobProcess(buildEnvironment(folder)));
  } finally {
    await holder.end();
  }
  await waitForLock(target!, 'transactionid');
  const second = workers[1]!;
  second.kill('SIGSTOP');
  const before = await loadRun(target!);
  first.kill('SIGCONT');
  await waitForLock(target!, 'transactionid', false);
  const after = await loadRun(target!);
  // While this run has the file no other one may write, and its process is suspended.
  if (after.run_id === before.run_id) expect(after).toEqual(before);
  second.kill('SIGCONT');
}

const killOneWorker = (): Promise<void> => kill(workers[0]!);

async function restartDatabase(): Promise<void> {
  ownPostgres.restart();
  await eventually(async () => (await ownPostgres.api('get', 'me')).status === 200);
}

interface Absence {
  startJobs: () => Promise<Workers>;
  takeAway: () => unknown;
  bringBack: () => unknown;
}

/** Waits until an import could not read its file, and then brings the storage back. */
const interruptStorage =
  ({ startJobs, takeAway, bringBack }: Absence) =>
  async ([target]: ListImport[]): Promise<void> => {
    const { site, file } = target!;
    // An import that fails once more than that is given up.
    await site.sql('UPDATE buyer_suppression_files SET attempts = 19 WHERE id = $1', [file]);
    await takeAway();
    const jobs = await startJobs();
    try {
      await waitForRun(target!, ({ run_id, attempts }) => run_id !== null && attempts === 19);
      expect(await loadRun(target!)).toMatchObject({ status: 'running' });
      await bringBack();
      await waitUntilEnded(target!);
    } finally {
      await jobs.stop();
    }
  };

/** The mark by which a process knows the folder of its installation. */
let mark: string | undefined;

async function unmountFolder(): Promise<void> {
  const { storage, database } = folder.deps;
  await acceptStorage(database.sql, storage);
  mark = await readMark(storage);
  renameSync(storage.settings.folder, `${storage.settings.folder}.away`);
  mkdirSync(storage.settings.folder);
}

function startJobsWithMark(): Promise<Workers> {
  const { database, log, storage } = folder.deps;
  const marked = openDirectory({ ...storage.settings, mark });
  return startWorkers({
    database,
    log,
    runners: createRunners({ ...folder.deps, storage: marked }),
  });
}

function mountFolder(): void {
  const path = folder.deps.storage.settings.folder;
  // Nothing was made in its place.
  expect(readdirSync(path)).toEqual([]);
  rmSync(path, { recursive: true });
  renameSync(`${path}.away`, path);
}

/** Breaks off the first download, and takes the bucket away for a moment. */
async function breakDownload([target]: ListImport[]): Promise<void> {
  let isBroken = false;
  s3.forget();
  s3.hook = (req, res) => {
    if (req.method !== 'GET' || isBroken) return false;
    breakAfter(250_000, res, 'cut');
    res.once('close', () => {
      isBroken = true;
      void s3.stop().then(() => setTimeout(() => void s3.start(), 300));
    });
    return false;
  };
  const jobs = await bucket.work();
  await waitUntilEnded(target!);
  await jobs.stop();
  s3.hook = () => false;
  expect(isBroken).toBe(true);
  // It went on where it was.
  expect(s3.requests().some((line) => /^GET .* bytes=\d{6,}-$/.test(line))).toBe(true);
}

const startJobs = () => bucket.work();
const respond503: S3Server['hook'] = (req, res) => {
  if (req.method !== 'GET') return false;
  res.writeHead(503).end();
  return true;
};

const HARMS: Record<string, Harm> = {
  'its server is killed and started again': {
    site: () => toSite(served),
    start: useServer,
    act: killServer,
  },
  'its server is stopped and a worker takes over': {
    site: () => toSite(served),
    start: useServer,
    act: stopServer,
  },
  'its worker is killed at random points': {
    site: () => toSite(folder),
    start: () => useWorkers(1, folder),
    act: killAtRandomPoints,
    isUnderWay: ({ run_id }) => run_id !== null,
    rows: repetitions(60_000, 250_000),
    times: repetitions(1, 5),
  },
  'its worker is suspended, and goes on when another one has taken over': {
    site: () => toSite(folder),
    start: () => useWorkers(1, folder),
    act: suspendWorker,
  },
  'one of two workers is killed': {
    site: () => toSite(folder),
    start: () => useWorkers(2, folder),
    act: killOneWorker,
    imports: 3,
  },
  'its database is stopped at once and started again': {
    site: () => ownPostgres,
    start: () => useWorkers(1, ownPostgres),
    act: restartDatabase,
    rows: 60_000,
  },
  'the bucket cannot be reached': {
    rows: FEW_ROWS,
    site: () => toSite(bucket),
    act: interruptStorage({ startJobs, takeAway: () => s3.stop(), bringBack: () => s3.start() }),
  },
  'the bucket answers with 503': {
    rows: FEW_ROWS,
    site: () => toSite(bucket),
    act: interruptStorage({
      startJobs,
      takeAway: () => (s3.hook = respond503),
      bringBack: () => (s3.hook = () => false),
    }),
  },
  'the bucket goes away in the middle of the file': {
    site: () => toSite(bucket),
    act: breakDownload,
    rows: repetitions(30_000, 600_000),
  },
  'the folder of files is away': {
    rows: FEW_ROWS,
    site: () => toSite(folder),
    act: interruptStorage({
      startJobs: startJobsWithMark,
      takeAway: unmountFolder,
      bringBack: mountFolder,
    }),
  },
};

async function loadRuns(imports: readonly ListImport[]): Promise<Run[]> {
  const runs: Run[] = [];
  for (const target of imports) runs.push(await loadRun(target));
  return runs;
}

/** Does harm to imports, and returns whether it hit one. */
async function interrupt(harm: Harm): Promise<boolean> {
  const { site, start, act, isUnderWay = ({ imported }) => imported > 0 } = harm;
  await (start ?? endWorkers)();
  const targets: ListImport[] = [];
  for (let n = 0; n < (harm.imports ?? 1); n++)
    targets.push(await uploadImport(site(), buildRows(harm.rows ?? ROWS)));
  if (start) await waitForRun(targets[0]!, isUnderWay);
  const before = await loadRuns(targets);
  await act(targets);
  for (const target of targets) await expectExact(target);
  const after = await loadRuns(targets);
  // An import that was hit is ended by another run; it may have been over before.
  return after.some(({ run_id }, at) => run_id !== before[at]!.run_id);
}

test.each(Object.entries(HARMS))('an import is exact when %s', async (_, harm) => {
  for (let hits = 0; hits < (harm.times ?? 1);) if (await interrupt(harm)) hits += 1;
});
