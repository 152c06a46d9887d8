import { Client } from 'pg';
import { callProjection } from '../../src/calls/columns';
import { SettledCounts } from '../../src/db/settled-counts';
import { template } from '../../src/db/statement';
import { callsOf } from '../support/calls';
import { createWorld, type Company, type World } from '../support/world';

// Ids are given by the tests: the database divides calls into chunks of 8,192 ids.

const CHUNK = 8192;
const AGED = '3 hours';

let world: World;
let company: Company;
const open: Client[] = [];

beforeAll(async () => {
  world = await createWorld();
});
beforeEach(async () => {
  company = await world.addCompany();
});
afterEach(async () => {
  for (const client of open.splice(0)) await client.end();
});
afterAll(() => world.close());

const ago = (interval: string) =>
  interval === 'now' ? new Date() : new Date(Date.now() - SECONDS[interval]! * 1000);
const SECONDS: Record<string, number> = {
  '3 hours': 10_800,
  '40 minutes': 2_400,
  '20 minutes': 1_200,
  '5 minutes': 300,
  'in an hour': -3_600,
};

/** A connection of its own, for a transaction that stays open. */
async function connect(): Promise<Client> {
  const client = new Client({ connectionString: world.url });
  await client.connect();
  open.push(client);
  return client;
}

const add = (id: number, age = AGED, fields: object = {}) =>
  callsOf(world, company).call({ id, created_at: ago(age), ...fields });

/** As calls are that were there before, and have settled since: no trigger has seen them. */
async function addUnseen(id: number, fields: object = {}): Promise<void> {
  await world.sql('SET session_replication_role = replica');
  await add(id, AGED, fields);
  await world.sql('SET session_replication_role = DEFAULT');
}

type Condition = [sql: string, values: Record<string, unknown>];
const COMPLETED: Condition = ['t.status = {status}', { status: 'completed' }];

/** The count of a process that remembers `counts`, and from which id on it has read. */
async function count(counts: SettledCounts, [condition, values]: Condition = COMPLETED) {
  const key = JSON.stringify([String(company.id), condition, values]);
  const counted = counts.of(callProjection, [condition], key);
  const { text, values: bound } = template(`SELECT (${counted.sql})::text AS answer`, {
    prepared: false,
  })({ company_id: company.id, ...values, ...counted.values });
  const [row] = await world.sql<{ answer: string }>(text, bound);
  return { total: counted.read(row!.answer), from: counted.values.count_below as number };
}

const counted = async ([condition, values]: Condition): Promise<number> => {
  const { text, values: bound } = template(
    `SELECT count(*)::int AS n FROM calls t
    WHERE t.company_id = {company_id} AND t.deleted_at IS NULL AND ${condition}`,
    { prepared: false },
  )({ company_id: company.id, ...values });
  return (await world.sql<{ n: number }>(text, bound))[0]!.n;
};

test('calls that have settled are not counted twice, and new ones are', async () => {
  const counts = new SettledCounts();
  for (const id of [10, 20, CHUNK + 1]) await addUnseen(id);
  await addUnseen(3 * CHUNK + 1);
  expect(await count(counts)).toEqual({ total: 4, from: 0 });
  // Nothing records this change, so a count that reads these calls again would see it.
  await world.sql('SET session_replication_role = replica');
  await world.sql(`UPDATE calls SET status = 'busy' WHERE company_id = $1 AND id = 10`, [
    company.id,
  ]);
  await world.sql('SET session_replication_role = DEFAULT');
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
  const [one, other] = [new SettledCounts(), new SettledCounts()];
  for (const id of [10, 20, 2 * CHUNK]) await addUnseen(id, { status: 'completed' });
  await world.sql(`UPDATE calls SET status = 'busy' WHERE company_id = $1 AND id = $2`, [
    company.id,
    2 * CHUNK,
  ]);
  for (const counts of [one, other]) expect((await count(counts)).total).toBe(2);
  await world.sql(change, [company.id]);
  for (const counts of [one, other, one]) expect((await count(counts)).total).toBe(total);
});

test('a call whose transaction was open while others settled counts after its commit', async () => {
  const counts = new SettledCounts();
  for (const id of [10, 2 * CHUNK]) await addUnseen(id);
  const client = await connect();
  await client.query('BEGIN');
  await client.query(
    `INSERT INTO calls (company_id, id, uuid, direction, status, carrier)
    VALUES ($1, 11, gen_random_uuid(), 'inbound', 'completed', 'sandbox')`,
    [company.id],
  );
  for (let time = 0; time < 2; time++) expect((await count(counts)).total).toBe(2);
  expect((await count(counts)).from).toBe(2 * CHUNK);
  await client.query('COMMIT');
  for (let time = 0; time < 2; time++) expect((await count(counts)).total).toBe(3);
  // It is young: its changes are recorded nowhere, and seen all the same.
  await world.sql(`UPDATE calls SET status = 'busy' WHERE company_id = $1 AND id = 11`, [
    company.id,
  ]);
  expect((await count(counts)).total).toBe(2);
});

test('a change counts at its commit, whichever of two writers is the last', async () => {
  const counts = new SettledCounts();
  for (const id of [10, 11, 12, 2 * CHUNK]) await addUnseen(id);
  const [first, second] = [await connect(), await connect()];
  const change = (client: Client, id: number) =>
    client.query(`UPDATE calls SET status = 'busy' WHERE company_id = $1 AND id = $2`, [
      company.id,
      id,
    ]);
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
  const counts = new SettledCounts(1_400);
  for (const id of [10, CHUNK, 2 * CHUNK, 3 * CHUNK]) await addUnseen(id);
  await count(counts);
  expect((await count(counts)).from).toBe(3 * CHUNK);
  const other: Condition = ['t.status <> {status}', { status: 'busy' }];
  await count(counts, other);
  expect((await count(counts, other)).from).toBe(3 * CHUNK);
  expect((await count(counts)).from).toBe(0);
});

test('what says what is counted takes memory too, however few calls there are', async () => {
  for (const id of [10, 2 * CHUNK]) await addUnseen(id);
  const counts = new SettledCounts(20_000);
  await count(counts);
  expect((await count(counts)).from).toBe(2 * CHUNK);
  await count(counts, ['t.status = {status}', { status: 'x'.repeat(9_700) }]);
  expect((await count(counts)).from).toBe(0);
  for (let n = 0; n < 30; n++) await count(counts, ['t.status = {status}', { status: `${n}` }]);
  expect((await count(counts)).from).toBe(0);
});

test('counts of one company are not those of another', async () => {
  const counts = new SettledCounts();
  for (const id of [10, 2 * CHUNK]) await addUnseen(id);
  await count(counts);
  company = await world.addCompany();
  expect((await count(counts)).total).toBe(0);
});

/** Deterministic, so that a failure can be repeated. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const CONDITIONS: Condition[] = [
  COMPLETED,
  ['t.buyer_converted', {}],
  ['t.token_values @> {tokens}::jsonb', { tokens: '{"state":"CA"}' }],
  ['t.ended_at IS NULL', {}],
];
const CHANGES = [
  `status = 'busy'`,
  `status = 'completed'`,
  'buyer_converted = NOT buyer_converted',
  `token_values = '{"state":"CA"}'`,
  `token_values = '{"state":"NY"}'`,
  'ended_at = now()',
  'deleted_at = now()',
  'deleted_at = NULL',
  `disposition_notes = 'none'`,
];
const AGES = ['now', '5 minutes', '20 minutes', '40 minutes', '3 hours', 'in an hour'];

/** Writers whose transactions overlap: each has one connection, and commits when it likes. */
class Writer {
  private is_open = false;
  private readonly locked = new Set<number>();

  constructor(
    private readonly client: Client,
    private readonly random: (below: number) => number,
    private readonly taken: Set<number>,
  ) {}

  async step(ids: number[]): Promise<void> {
    if (!this.is_open) {
      await this.client.query('BEGIN');
      this.is_open = true;
    }
    const kind = this.random(10);
    if (kind < 3) return this.insert(ids);
    if (kind < 8) return this.change(ids);
    await this.end();
  }

  async end(): Promise<void> {
    if (!this.is_open) return;
    await this.client.query(this.random(4) === 0 ? 'ROLLBACK' : 'COMMIT');
    for (const id of this.locked) this.taken.delete(id);
    this.locked.clear();
    this.is_open = false;
  }

  private async insert(ids: number[]): Promise<void> {
    const id = this.random(6) * CHUNK + this.random(5_000);
    if (ids.includes(id)) return;
    ids.push(id);
    await this.client.query(
      `INSERT INTO calls (company_id, id, uuid, direction, status, carrier, created_at)
      VALUES ($1, $2, gen_random_uuid(), 'inbound', 'completed', 'sandbox', $3)`,
      [company.id, id, ago(AGES[this.random(AGES.length)]!)],
    );
  }

  private async change(ids: number[]): Promise<void> {
    const id = ids[this.random(ids.length)]!;
    if (this.taken.has(id) && !this.locked.has(id)) return;
    this.taken.add(id);
    this.locked.add(id);
    const change = CHANGES[this.random(CHANGES.length)]!;
    await this.client.query(`UPDATE calls SET ${change} WHERE company_id = $1 AND id = $2`, [
      company.id,
      id,
    ]);
  }
}

test.each([1, 2, 3, 4])(
  'equals counting, after any writes, in two processes (%d)',
  async (seed) => {
    const random = randomOf(seed);
    const processes = [new SettledCounts(), new SettledCounts()];
    const ids: number[] = [];
    for (let chunk = 0; chunk < 6; chunk++) {
      ids.push(chunk * CHUNK + 6_000);
      await addUnseen(ids.at(-1)!);
    }
    const taken = new Set<number>();
    const clients = [await connect(), await connect(), await connect()];
    const writers = clients.map((client) => new Writer(client, random, taken));
    const furthest = new Set<number>();
    for (let step = 0; step < 150; step++) {
      await writers[random(3)]!.step(ids);
      const condition = CONDITIONS[random(CONDITIONS.length)]!;
      const { total, from } = await count(processes[random(2)]!, condition);
      expect([step, condition[0], total]).toEqual([step, condition[0], await counted(condition)]);
      furthest.add(from);
    }
    expect(furthest.size).toBeGreaterThan(1);
    for (const writer of writers) await writer.end();
    for (const condition of CONDITIONS)
      for (const counts of processes)
        expect((await count(counts, condition)).total).toBe(await counted(condition));
  },
);
