import { createRunners } from '../../../src/main/background/runners';
import { startWorkers } from '../../../src/data/jobs/workers';
import { closeDeps, createDeps } from '../../../src/operate/installation/deps';
import { eventually } from '../../support/engine-process';
import { buildRows, toNumbers } from '../../support/exact-imports';
import { finished, numberAt, loadNumbers } from '../../support/imports';
import { repetitions } from '../../support/repetitions';
import { createWorld, type World } from '../../support/world';

// An import adds exactly the numbers of its file, and its counts are exact, whatever happens at the
// same time. tests/system/crash/imports.test.ts kills the processes that run it.

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.work();
});
afterAll(() => world.close());

const api = (...args: Parameters<World['company']['api']>) => world.company.api(...args);
const createList = async (name = 'List'): Promise<number> =>
  (await api('post', 'buyer_suppressions', { body: { name } })).body.buyer_suppression.id;

const loadFile = async (file: number) =>
  (await api('get', `buyer_suppression_files/${file}`)).body.buyer_suppression_file;

/** Waits until the import of a file has ended, and returns the file. */
const waitUntilEnded = (file: number) =>
  finished(world.company.api, `buyer_suppression_files/${file}`);

/** The count of numbers that a list shows. */
const countBlocked = async (list: number): Promise<number> =>
  (await api('get', `buyer_suppressions/${list}`)).body.buyer_suppression.blocked;

async function upload(
  list: number,
  rows: string[],
  fields: Record<string, string> = {},
): Promise<number> {
  const importFile = Buffer.from(`phone\n${rows.join('\n')}\n`);
  const res = await api('post', 'buyer_suppression_files', {
    form: { buyer_suppression_id: String(list), ...fields, import_file: importFile },
  });
  return res.body.buyer_suppression_file.id;
}

/** Starts a worker with dependencies as another process would have them. */
async function startWorker() {
  const { config, log } = world.deps;
  const deps = createDeps({ config, database_url: world.url, log });
  const jobs = await startWorkers({ database: deps.database, log, runners: createRunners(deps) });
  return { stop: () => jobs.stop().then(() => closeDeps(deps)) };
}

test('any number of workers import the files of a list once each, in their order', async () => {
  const workers = await Promise.all([startWorker(), startWorker()]);
  const lists = await Promise.all(
    Array.from({ length: repetitions(3, 6) }, (_, n) => createList(String(n))),
  );
  const files: number[] = [];
  for (const list of lists) {
    files.push(await upload(list, buildRows(500)));
    files.push(await upload(list, buildRows(400), { apply_block_or_unblock: 'unblock' }));
    files.push(await upload(list, buildRows(100)));
  }
  for (const file of files) expect((await waitUntilEnded(file)).status).toBe('succeeded');
  const expected = toNumbers([...buildRows(500).slice(400), ...buildRows(100)]);
  for (const list of lists) expect(await loadNumbers(world.company.api, list)).toEqual(expected);
  for (const list of lists) {
    const times = await world.sql<{ started: string; done: string }>(
      `SELECT started_at::text AS started, succeeded_at::text AS done
      FROM buyer_suppression_files
      WHERE buyer_suppression_id = $1
      ORDER BY queue_position`,
      [list],
    );
    for (let i = 1; i < times.length; i++)
      expect(times[i]!.started >= times[i - 1]!.done).toBe(true);
  }
  for (const { stop } of workers) await stop();
});

test('of parallel uploads to one list all are imported', async () => {
  const list = await createList();
  const count = repetitions(6, 12);
  const files = await Promise.all(
    Array.from({ length: count }, (_, n) => upload(list, [numberAt(n)])),
  );
  for (const file of files) expect((await waitUntilEnded(file)).status).toBe('succeeded');
  expect(await countBlocked(list)).toBe(count);
});

test('numbers that are blocked and unblocked during an import are counted exactly', async () => {
  const list = await createList();
  const file = await upload(list, buildRows(30_000));
  const send = (verb: string, from: number) =>
    api('post', `buyer_suppressions/${list}/caller_${verb}`, {
      body: {
        caller_ids: Array.from({ length: 500 }, (_, i) => numberAt((from + i * 7) % 35_000)),
      },
    });
  const isOver = async () => !['pending', 'running'].includes((await loadFile(file)).status);
  for (let round = 0; round === 0 || !(await isOver()); round++) {
    const replies = await Promise.all([
      send('block', round * 4_000),
      send('unblock', round * 4_000 + 900),
      send('block', round * 4_000 + 100),
    ]);
    expect(replies.map(({ status, body }) => [status, body.detail])).toEqual(
      [[200], [200], [200]].map(([ok]) => [ok, undefined]),
    );
  }
  expect(await waitUntilEnded(file)).toMatchObject({ status: 'succeeded' });
  const [row] = await world.sql<{ n: string }>(
    'SELECT count(*) AS n FROM buyer_suppression_numbers WHERE buyer_suppression_id = $1',
    [list],
  );
  expect(await countBlocked(list)).toBe(Number(row!.n));
});

/** Looks at an import until a third of it is done; returns which percents it has shown by then. */
async function watchPercents(file: number): Promise<number[]> {
  const percents = new Set<number>();
  await eventually(async () => {
    const { import_percent, import_count, rejected_count, total_count } = await loadFile(file);
    percents.add(import_percent);
    if (total_count !== null)
      expect(import_percent).toBe(
        Math.round((1000 * (import_count + rejected_count)) / total_count) / 10,
      );
    return import_percent > 30;
  });
  return [...percents];
}

test('progress is visible; a stop ends the import and starts the next file', async () => {
  const rows = buildRows(100_000);
  for (;;) {
    const list = await createList();
    const file = await upload(list, rows);
    const next = await upload(list, [numberAt(999_999)]);
    const percents = await watchPercents(file);
    const { status, body } = await api('post', `buyer_suppression_files/${file}/stop`);
    // A busy machine may look again only when it is over, or nearly so.
    expect([200, 422]).toContain(status);
    if (percents.length < 3 || status === 422) continue;
    const stopped = body.buyer_suppression_file;
    expect(stopped).toMatchObject({ status: 'stopped', total_count: rows.length });
    expect((await waitUntilEnded(next)).status).toBe('succeeded');
    const after = await loadFile(file);
    expect([after.import_count, after.status]).toEqual([stopped.import_count, 'stopped']);
    expect(await countBlocked(list)).toBe(after.added_count + 1);
    expect(after.import_count).toBeLessThan(rows.length * 0.98);
    return;
  }
});

test('what a running import depends on cannot be changed; deleting its list ends it', async () => {
  const list = await createList();
  // The import runs for as long as this lock keeps it from adding numbers.
  await world.sql('BEGIN');
  await world.sql('LOCK TABLE buyer_suppression_numbers IN SHARE MODE');
  const file = await upload(list, buildRows(30_000));
  await eventually(async () => (await loadFile(file)).status === 'running');
  const refused = await api('put', `buyer_suppression_files/${file}`, {
    body: { apply_block_or_unblock: 'unblock' },
  });
  expect(refused.body.errors).toEqual({
    apply_block_or_unblock: [expect.stringContaining('stop it first')],
  });
  expect(
    (await api('put', `buyer_suppression_files/${file}`, { body: { name: 'x' } })).status,
  ).toBe(200);
  expect((await api('delete', `buyer_suppressions/${list}`)).status).toBe(200);
  await world.sql('COMMIT');
  await eventually(async () => {
    const [row] = await world.sql<{ n: string; busy: string }>(
      `SELECT
        (SELECT count(*) FROM buyer_suppression_numbers WHERE buyer_suppression_id = $1) AS n,
        (SELECT count(*) FROM jobs.job) AS busy`,
      [list],
    );
    return row!.n === '0' && row!.busy === '0';
  }, 20);
});

test('a job is added if and only if its transaction commits', async () => {
  const db = world.deps.tenants.of(world.company.id);
  const payload = { company_id: String(world.company.id), id: '999999999' };
  const broken = db.transaction(async (tx) => {
    await world.deps.queue.add(tx, 'import_suppression_file', payload);
    throw new Error('no');
  });
  await expect(broken).rejects.toThrow('no');
  const jobs = () => world.sql(`SELECT data FROM jobs.job WHERE data ->> 'id' = $1`, [payload.id]);
  expect(await jobs()).toEqual([]);
  await db.transaction((tx) => world.deps.queue.add(tx, 'import_suppression_file', payload));
  expect(await jobs()).toEqual([{ data: payload }]);
});
