import fc from 'fast-check';
import { finished, numberAt, loadNumbers } from '../../support/imports';
import { kill, startJobProcess } from '../../support/job-process';
import { repetitions } from '../../support/repetitions';
import { createWorld, type World } from '../../support/world';
import { eventually } from '../../support/engine-process';

// An import adds exactly the numbers of its file, and its counts are exact, whatever happens to the
// processes that run it.

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const api = (...args: Parameters<World['company']['api']>) => world.company.api(...args);
const createList = async (name = 'List'): Promise<number> =>
  (await api('post', 'buyer_suppressions', { body: { name } })).body.buyer_suppression.id;

const loadStatus = async (file: number): Promise<string> =>
  (await api('get', `buyer_suppression_files/${file}`)).body.buyer_suppression_file.status;

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

/** Rows with one in fifty bad, and one in fifty twice. */
const buildRows = (n: number) =>
  Array.from({ length: n }, (_, i) => {
    if (i % 50 === 7) return `bad ${i}`;
    return numberAt(i % 50 === 9 ? i - 1 : i);
  });
const distinct = (rows: string[]) =>
  [...new Set(rows.filter((row) => !row.startsWith('bad')))].map((row) => `+1${row}`).sort();

async function expectExact(list: number, file: number, rows: string[]): Promise<void> {
  const bad = rows.filter((row) => row.startsWith('bad')).length;
  const numbers = distinct(rows);
  expect(await waitUntilEnded(file)).toMatchObject({
    status: 'succeeded',
    total_count: rows.length,
    import_count: rows.length - bad,
    rejected_count: bad,
    added_count: numbers.length,
    import_percent: 100,
  });
  expect(await countBlocked(list)).toBe(numbers.length);
  const [row] = await world.sql<{ n: string; rejected: string }>(
    `SELECT
      (SELECT count(*) FROM buyer_suppression_numbers WHERE buyer_suppression_id = $1) AS n,
      (SELECT count(*) FROM rejected_rows WHERE buyer_suppression_file_id = $2) AS rejected`,
    [list, file],
  );
  expect([row!.n, row!.rejected]).toEqual([String(numbers.length), String(bad)]);
  expect(await loadNumbers(world.company.api, list)).toEqual(numbers);
}

test('killing the process at random points loses nothing and duplicates nothing', async () => {
  const rows = buildRows(repetitions(100_000, 250_000));
  const delays = fc.sample(fc.integer({ min: 50, max: 1_500 }), {
    numRuns: repetitions(1, 10),
    seed: Number(process.env.FUZZ_SEED ?? 20_261_121),
  });
  let list = await createList();
  let file = await upload(list, rows);
  let reached = 0;
  for (const delay of delays) {
    const child = await startJobProcess(world);
    await new Promise((done) => setTimeout(done, delay));
    await kill(child);
    const { status, import_count, rejected_count } = (
      await api('get', `buyer_suppression_files/${file}`)
    ).body.buyer_suppression_file;
    const [row] = await world.sql<{ n: string }>(
      'SELECT count(*) AS n FROM rejected_rows WHERE buyer_suppression_file_id = $1',
      [file],
    );
    expect(Number(row!.n)).toBe(rejected_count);
    // Each process continues where the one before was killed.
    expect(import_count).toBeGreaterThanOrEqual(reached);
    reached = import_count;
    if (status !== 'succeeded') continue;
    await expectExact(list, file, rows);
    [list, reached] = [await createList(), 0];
    file = await upload(list, rows);
  }
  const child = await startJobProcess(world);
  await expectExact(list, file, rows);
  await kill(child);
});

test('a suspended worker whose import was taken over writes nothing later', async () => {
  const rows = buildRows(120_000);
  const list = await createList();
  const file = await upload(list, rows);
  const next = await upload(list, [numberAt(999_999)]);
  const suspended = await startJobProcess(world);
  await new Promise((done) => setTimeout(done, 600));
  suspended.kill('SIGSTOP');
  const running = await startJobProcess(world);
  for (let tries = 0; ; tries++) {
    const { rows: runs } = await world.deps.database.pool.query(
      `SELECT retry_count FROM jobs.job WHERE state = 'active'`,
    );
    if (runs.some(({ retry_count }) => retry_count > 0)) break;
    if (tries > 500 || (await loadStatus(file)) === 'succeeded') break;
    await new Promise((done) => setTimeout(done, 20));
  }
  suspended.kill('SIGCONT');
  expect((await waitUntilEnded(file)).status).toBe('succeeded');
  expect((await waitUntilEnded(next)).status).toBe('succeeded');
  const [row] = await world.sql<{ n: string }>(
    'SELECT count(*) AS n FROM buyer_suppression_numbers WHERE buyer_suppression_id = $1',
    [list],
  );
  expect(await countBlocked(list)).toBe(distinct(rows).length + 1);
  expect(Number(row!.n)).toBe(distinct(rows).length + 1);
  await Promise.all([kill(suspended), kill(running)]);
});

test('when one of two workers is killed, the other takes over', async () => {
  const rows = buildRows(60_000);
  const lists = [await createList('a'), await createList('b'), await createList('c')];
  const files = await Promise.all(lists.map((list) => upload(list, rows)));
  const [firstWorker, secondWorker] = await Promise.all([
    startJobProcess(world),
    startJobProcess(world),
  ]);
  await new Promise((done) => setTimeout(done, 700));
  await kill(firstWorker);
  for (const [n, list] of lists.entries()) await expectExact(list, files[n]!, rows);
  await kill(secondWorker);
});

test('any number of workers import the files of a list once each, in their order', async () => {
  const workers = await Promise.all([startJobProcess(world), startJobProcess(world), world.work()]);
  const lists = await Promise.all(Array.from({ length: 6 }, (_, n) => createList(String(n))));
  const files: number[] = [];
  for (const list of lists) {
    files.push(await upload(list, buildRows(500)));
    files.push(await upload(list, buildRows(400), { apply_block_or_unblock: 'unblock' }));
    files.push(await upload(list, buildRows(100)));
  }
  for (const file of files) expect((await waitUntilEnded(file)).status).toBe('succeeded');
  const expected = [
    ...new Set([...distinct(buildRows(500).slice(400)), ...distinct(buildRows(100))]),
  ].sort();
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
  await Promise.all(
    workers.slice(0, 2).map((child) => kill(child as Awaited<ReturnType<typeof startJobProcess>>)),
  );
});

test('of parallel uploads to one list all are imported', async () => {
  await world.work();
  const list = await createList();
  const files = await Promise.all(
    Array.from({ length: 12 }, (_, n) => upload(list, [numberAt(n)])),
  );
  for (const file of files) expect((await waitUntilEnded(file)).status).toBe('succeeded');
  expect(await countBlocked(list)).toBe(12);
});

test('numbers that are blocked and unblocked during an import are counted exactly', async () => {
  await world.work();
  const rows = buildRows(60_000);
  const list = await createList();
  const file = await upload(list, rows);
  const send = (verb: string, from: number) =>
    api('post', `buyer_suppressions/${list}/caller_${verb}`, {
      body: {
        caller_ids: Array.from({ length: 500 }, (_, i) => numberAt((from + i * 7) % 70_000)),
      },
    });
  for (let round = 0; round < 12; round++) {
    const replies = await Promise.all([
      send('block', round * 4_000),
      send('unblock', round * 4_000 + 900),
      send('block', round * 4_000 + 100),
    ]);
    expect(replies.map(({ status, body }) => [status, body.detail])).toEqual(
      [[200], [200], [200]].map(([ok]) => [ok, undefined]),
    );
  }
  await waitUntilEnded(file);
  const [row] = await world.sql<{ n: string }>(
    'SELECT count(*) AS n FROM buyer_suppression_numbers WHERE buyer_suppression_id = $1',
    [list],
  );
  expect(await countBlocked(list)).toBe(Number(row!.n));
});

test('progress is visible; a stop ends the import and starts the next file', async () => {
  const rows = buildRows(400_000);
  const list = await createList();
  const file = await upload(list, rows);
  const next = await upload(list, [numberAt(999_999)]);
  await world.work();
  const percents = new Set<number>();
  for (;;) {
    const { body } = await api('get', `buyer_suppression_files/${file}`);
    const { import_percent, import_count, rejected_count, total_count } =
      body.buyer_suppression_file;
    percents.add(import_percent);
    if (total_count !== null)
      expect(import_percent).toBe(
        Math.round((1000 * (import_count + rejected_count)) / total_count) / 10,
      );
    if (import_percent > 30) break;
    await new Promise((done) => setTimeout(done, 10));
  }
  expect(percents.size).toBeGreaterThan(2);
  const stopped = (await api('post', `buyer_suppression_files/${file}/stop`)).body
    .buyer_suppression_file;
  expect(stopped).toMatchObject({ status: 'stopped', total_count: rows.length });
  expect((await waitUntilEnded(next)).status).toBe('succeeded');
  const after = (await api('get', `buyer_suppression_files/${file}`)).body.buyer_suppression_file;
  expect([after.import_count, after.status]).toEqual([stopped.import_count, 'stopped']);
  expect(await countBlocked(list)).toBe(after.added_count + 1);
  expect(after.import_count).toBeLessThan(rows.length * 0.98);
});

test('what a running import depends on cannot be changed; deleting its list ends it', async () => {
  const list = await createList();
  const file = await upload(list, buildRows(400_000));
  await world.work();
  while ((await loadStatus(file)) === 'pending') await new Promise((done) => setTimeout(done, 5));
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
  await eventually(async () => {
    const [row] = await world.sql<{ n: string; busy: string }>(
      `SELECT
        (SELECT count(*) FROM buyer_suppression_numbers WHERE buyer_suppression_id = $1) AS n,
        (SELECT count(*) FROM jobs.job WHERE state IN ('created', 'retry', 'active')) AS busy`,
      [list],
    );
    return row!.n === '0' && row!.busy === '0';
  }, 20);
});

test('a job is added if and only if its transaction commits', async () => {
  const db = world.deps.tenants.of(world.company.id);
  const payload = { company_id: String(world.company.id), id: '1' };
  const broken = db.transaction(async (tx) => {
    await world.deps.queue.add(tx, 'import_suppression_file', payload);
    throw new Error('no');
  });
  await expect(broken).rejects.toThrow('no');
  const jobs = () => world.sql('SELECT data FROM jobs.job');
  expect(await jobs()).toEqual([]);
  await db.transaction((tx) => world.deps.queue.add(tx, 'import_suppression_file', payload));
  expect(await jobs()).toEqual([{ data: payload }]);
});
