import type { Client } from 'pg';
import { CachedCounts } from '../../src/data/counts/settled-counts';
import { addRecording } from '../support/recorded-calls';
import {
  CHUNK,
  COMPLETED,
  settledCalls,
  type Condition,
  type Saved,
} from '../support/settled-calls';
import { useWorld } from '../support/use-world';

const world = useWorld({ fresh: 'company' });
const { add, addUnseen, connect, closeConnections, count } = settledCalls(world);

afterEach(closeConnections);

test('calls that have settled are not counted twice, and new ones are', async () => {
  const counts = new CachedCounts();
  for (const id of [10, 20, CHUNK + 1]) await addUnseen(id);
  await addUnseen(3 * CHUNK + 1);
  expect(await count(counts)).toEqual({ total: 4, from: 0 });
  // Nothing records this change, so a count that reads these calls again would see it.
  await world.sql(`UPDATE calls SET status = 'busy' WHERE company_id = $1 AND id = 10`, [
    world.company.id,
  ]);
  await add(3 * CHUNK + 2, 'now');
  expect(await count(counts)).toEqual({ total: 5, from: 3 * CHUNK });
});

test.each([
  ['changed', `UPDATE calls SET status = 'busy' WHERE company_id = $1 AND id = 10`, 1],
  ['deleted', `UPDATE calls SET deleted_at = now() WHERE company_id = $1 AND id = 10`, 1],
  ['erased', `DELETE FROM calls WHERE company_id = $1 AND id = 10`, 1],
  ['moved', `UPDATE calls SET id = ${CHUNK + 7} WHERE company_id = $1 AND id = 10`, 2],
  ['made young', `UPDATE calls SET created_at = now() WHERE company_id = $1 AND id = 10`, 2],
])('a settled call that is %s counts as it is, in every process', async (_, change, total) => {
  const [first, second] = [new CachedCounts(), new CachedCounts()];
  for (const id of [10, 20, 2 * CHUNK]) await addUnseen(id, { status: 'completed' });
  await world.sql(
    addRecording(`UPDATE calls SET status = 'busy' WHERE company_id = $1 AND id = $2`),
    [world.company.id, 2 * CHUNK],
  );
  for (const counts of [first, second]) expect((await count(counts)).total).toBe(2);
  await world.sql(addRecording(change), [world.company.id]);
  for (const counts of [first, second, first]) expect((await count(counts)).total).toBe(total);
});

test('a call whose transaction was open while others settled counts after its commit', async () => {
  const counts = new CachedCounts();
  for (const id of [10, 2 * CHUNK]) await addUnseen(id);
  const client = await connect();
  await client.query('BEGIN');
  await client.query(
    addRecording(`INSERT INTO calls (company_id, id, uuid, direction, status, carrier)
    VALUES ($1, 11, gen_random_uuid(), 'inbound', 'completed', 'sandbox')`),
    [world.company.id],
  );
  for (let time = 0; time < 2; time++) expect((await count(counts)).total).toBe(2);
  expect((await count(counts)).from).toBe(2 * CHUNK);
  await client.query('COMMIT');
  for (let time = 0; time < 2; time++) expect((await count(counts)).total).toBe(3);
  // It is young: its changes are recorded nowhere, and seen all the same.
  await world.sql(
    addRecording(`UPDATE calls SET status = 'busy' WHERE company_id = $1 AND id = 11`),
    [world.company.id],
  );
  expect((await count(counts)).total).toBe(2);
});

test.each([
  ['deleted', `UPDATE calls SET deleted_at = now() WHERE company_id = $1 AND id = 11`],
  ['erased', `DELETE FROM calls WHERE company_id = $1 AND id = 11`],
  ['moved', `UPDATE calls SET id = ${2 * CHUNK + 1} WHERE company_id = $1 AND id = 11`],
])('a young call among settled ones that is %s counts as it is', async (_, change) => {
  const counts = new CachedCounts();
  for (const id of [10, 2 * CHUNK]) await addUnseen(id);
  await count(counts);
  await add(11, 'now');
  expect((await count(counts)).total).toBe(3);
  await world.sql(addRecording(change), [world.company.id]);
  const left = change.startsWith('UPDATE calls SET id') ? 3 : 2;
  for (let time = 0; time < 2; time++) expect((await count(counts)).total).toBe(left);
});

test('a change counts at its commit, whichever of two writers is the last', async () => {
  const counts = new CachedCounts();
  for (const id of [10, 11, 12, 2 * CHUNK]) await addUnseen(id);
  const [first, second] = [await connect(), await connect()];
  const change = (client: Client, id: number) =>
    client.query(
      addRecording(`UPDATE calls SET status = 'busy' WHERE company_id = $1 AND id = $2`),
      [world.company.id, id],
    );
  await first.query('BEGIN');
  await change(first, 10);
  expect((await count(counts)).total).toBe(4);
  await second.query('BEGIN');
  await change(second, 11);
  await second.query('COMMIT');
  expect((await count(counts)).total).toBe(3);
  await first.query('COMMIT');
  expect((await count(counts)).total).toBe(2);
  await first.query('BEGIN');
  await change(first, 12);
  await first.query('ROLLBACK');
  expect((await count(counts)).total).toBe(2);
});

test('what was asked for longest ago is forgotten first', async () => {
  // Bytes: more than one count takes, and less than two.
  const counts = new CachedCounts(1_400);
  for (const id of [10, CHUNK, 2 * CHUNK, 3 * CHUNK]) await addUnseen(id);
  await count(counts);
  expect((await count(counts)).from).toBe(3 * CHUNK);
  const otherCondition: Condition = ['t.status <> {status}', { status: 'busy' }];
  await count(counts, otherCondition);
  expect((await count(counts, otherCondition)).from).toBe(3 * CHUNK);
  expect((await count(counts)).from).toBe(0);
});

test('what says what is counted takes memory too, however few calls there are', async () => {
  for (const id of [10, 2 * CHUNK]) await addUnseen(id);
  const counts = new CachedCounts(20_000);
  await count(counts);
  expect((await count(counts)).from).toBe(2 * CHUNK);
  await count(counts, ['t.status = {status}', { status: 'x'.repeat(9_700) }]);
  expect((await count(counts)).from).toBe(0);
  for (let n = 0; n < 30; n++) await count(counts, ['t.status = {status}', { status: `${n}` }]);
  expect((await count(counts)).from).toBe(0);
});

test('a count that is asked for again is saved, and again after enough has settled', async () => {
  const [saved, createCounts]: [Saved, () => CachedCounts] = [
    new Map(),
    () => new CachedCounts(undefined, 2),
  ];
  const counts = createCounts();
  for (const id of [10, 20, 2 * CHUNK]) await addUnseen(id);
  await count(counts, COMPLETED, saved);
  expect(saved.size).toBe(0);
  await count(counts, COMPLETED, saved);
  expect(saved.size).toBe(1);
  const first = [...saved.values()][0];
  await addUnseen(3 * CHUNK);
  await count(counts, COMPLETED, saved);
  expect([...saved.values()]).toEqual([first]);
  await addUnseen(4 * CHUNK);
  expect(await count(counts, COMPLETED, saved)).toEqual({ total: 5, from: 3 * CHUNK });
  expect([...saved.values()]).not.toEqual([first]);
  expect(await count(createCounts(), COMPLETED, saved)).toEqual({ total: 5, from: 4 * CHUNK });
});

test('a process that begins with a saved count sees what was changed since', async () => {
  const saved: Saved = new Map();
  const counts = new CachedCounts(undefined, 2);
  for (const id of [10, 20, CHUNK, 2 * CHUNK]) await addUnseen(id);
  for (let time = 0; time < 2; time++) await count(counts, COMPLETED, saved);
  const late = await connect();
  await late.query('BEGIN');
  await late.query(
    addRecording(`UPDATE calls SET status = 'busy' WHERE company_id = $1 AND id = 10`),
    [world.company.id],
  );
  await world.sql(addRecording('DELETE FROM calls WHERE company_id = $1 AND id = $2'), [
    world.company.id,
    CHUNK,
  ]);
  const countInNewProcess = () => count(new CachedCounts(undefined, 2), COMPLETED, saved);
  expect(await countInNewProcess()).toEqual({ total: 3, from: 2 * CHUNK });
  await late.query('COMMIT');
  expect(await countInNewProcess()).toEqual({ total: 2, from: 2 * CHUNK });
});

test('counts of one company are not those of another', async () => {
  const counts = new CachedCounts();
  for (const id of [10, 2 * CHUNK]) await addUnseen(id);
  await count(counts);
  world.company = await world.addCompany();
  expect((await count(counts)).total).toBe(0);
});
