import { callProjection } from '../../src/domain/calls/columns';
import { deleteUnusedCounts, prepareSavedCount } from '../../src/data/counts/saved-counts';
import { CachedCounts } from '../../src/data/counts/settled-counts';
import { createCallWriter } from '../support/calls';
import { useWorld } from '../support/use-world';
import type { Company } from '../support/world';

// tests/data/settled-counts.test.ts shows that counts are exact; here, that the database keeps
// them.

const CHUNK = 8192;
const FURTHEST = 20 * CHUNK;

const world = useWorld();
let company: Company;
beforeEach(async () => {
  company = await world.addCompany();
  const { call: add } = createCallWriter(world, company);
  const createdAt = new Date(Date.now() - 10_800_000);
  for (const id of [10, CHUNK, FURTHEST])
    await add({ id, created_at: createdAt, status: 'completed' });
});

/** From which id on a process that has just started reads, where the list counts this status. */
async function findStart(status = 'completed', process = new CachedCounts()): Promise<number> {
  const db = world.deps.tenants.of(company.id);
  const counted = { conditions: ['t.status = {status}'], values: { status } };
  const { values } = await prepareSavedCount(db, callProjection, counted, process);
  return values.count_below as number;
}

async function total(status: string): Promise<number> {
  const { status: code, body } = await company.api('get', 'calls', { query: { status } });
  expect(code).toBe(200);
  return body.metadata.total_count as number;
}

const countSavedRows = async () =>
  Number(
    (
      await world.sql<{ n: string }>(
        'SELECT count(*) AS n FROM saved_counts WHERE company_id = $1',
        [company.id],
      )
    )[0]!.n,
  );

/** A list saves its count after it has answered. */
async function waitUntilSaved(rows: number): Promise<void> {
  while ((await countSavedRows()) < rows) await new Promise((done) => setTimeout(done, 10));
}

/** Twice, because what is asked for once is not saved. */
async function ask(status = 'completed'): Promise<void> {
  for (let time = 0; time < 2; time++) expect(await total(status)).toBe(3);
}

test('a process that starts later goes on from where an earlier one has counted', async () => {
  expect(await findStart()).toBe(0);
  await ask();
  await waitUntilSaved(1);
  expect(await findStart()).toBe(FURTHEST);
  expect(await findStart('busy')).toBe(0);
});

test('a count that was asked for once is not saved', async () => {
  expect(await total('busy')).toBe(0);
  await ask();
  await waitUntilSaved(1);
  expect(await countSavedRows()).toBe(1);
  expect(await findStart('busy')).toBe(0);
});

test('a count of a time, which is another one in the next list, is not saved', async () => {
  const query = { status: 'completed', created_at_to: new Date().toISOString() };
  for (let time = 0; time < 2; time++)
    expect((await company.api('get', 'calls', { query })).body.metadata.total_count).toBe(3);
  await ask();
  await waitUntilSaved(1);
  expect(await countSavedRows()).toBe(1);
});

test('a list is answered where counts cannot be saved', async () => {
  await world.sql('ALTER TABLE saved_counts RENAME TO other_counts');
  await ask();
  await world.sql('ALTER TABLE other_counts RENAME TO saved_counts');
});

test('a count of another cluster, whose transactions are others, is not gone by', async () => {
  await ask();
  await waitUntilSaved(1);
  await world.sql(`UPDATE saved_counts SET cluster = 'another' WHERE company_id = $1`, [
    company.id,
  ]);
  expect(await findStart()).toBe(0);
});

test('a count is known to its company only', async () => {
  await ask();
  await waitUntilSaved(1);
  company = await world.addCompany();
  expect(await findStart()).toBe(0);
});

test('a saved count with which no process has begun for a month is deleted', async () => {
  await ask();
  await waitUntilSaved(1);
  const age = (days: number) =>
    world.sql(
      `UPDATE saved_counts SET used_at = now() - $2 * interval '1 day' WHERE company_id = $1`,
      [company.id, days],
    );
  await age(29);
  await deleteUnusedCounts(world.deps.database.sql);
  expect(await findStart()).toBe(FURTHEST);
  await age(29);
  await findStart();
  expect(
    await world.sql(
      `SELECT FROM saved_counts WHERE company_id = $1 AND used_at > now() - interval '1 day'`,
      [company.id],
    ),
  ).toHaveLength(1);
  await age(31);
  await deleteUnusedCounts(world.deps.database.sql);
  expect(await countSavedRows()).toBe(0);
});
