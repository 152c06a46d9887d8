import { Client } from 'pg';
import { callProjection } from '../../src/domain/calls/columns';
import type { SavedCount, CachedCounts } from '../../src/data/counts/settled-counts';
import { template } from '../../src/data/statement';
import { createCallWriter } from './calls';
import type { World } from './world';

/** The database divides calls into chunks of so many ids; tests give the ids. */
export const CHUNK = 8192;
const AGED = '3 hours';

export const ago = (interval: string) =>
  interval === 'now' ? new Date() : new Date(Date.now() - SECONDS[interval]! * 1000);
const SECONDS: Record<string, number> = {
  '3 hours': 10_800,
  '40 minutes': 2_400,
  '20 minutes': 1_200,
  '5 minutes': 300,
  'in an hour': -3_600,
};

export type Condition = [sql: string, values: Record<string, unknown>];
export const COMPLETED: Condition = ['t.status = {status}', { status: 'completed' }];

/** Counts that processes save, as JSON by key. */
export type Saved = Map<string, string>;

/** Helpers of tests of remembered counts, for the company of the test. */
export function settledCalls(world: World) {
  const open: Client[] = [];
  /** A connection of its own, for a transaction that stays open. */
  async function connect(): Promise<Client> {
    const client = new Client({ connectionString: world.url });
    await client.connect();
    open.push(client);
    return client;
  }

  const add = (id: number, age = AGED, fields: object = {}) =>
    createCallWriter(world, world.company).call({ id, created_at: ago(age), ...fields });

  /** Adds a call like those of before counts were remembered: nothing is recorded of it. */
  async function addUnseen(id: number, fields: object = {}): Promise<void> {
    const { call } = createCallWriter(world, world.company, { unseen: true });
    await call({ id, created_at: ago(AGED), ...fields });
  }

  /** The count of a process that remembers `counts`, and the id from which it has read. */
  async function count(
    counts: CachedCounts,
    [condition, values]: Condition = COMPLETED,
    saved?: Saved,
  ) {
    const key = JSON.stringify([String(world.company.id), condition, values]);
    const savedJson = saved?.get(key);
    await counts.loadOnce(key, () =>
      Promise.resolve(savedJson === undefined ? savedJson : (JSON.parse(savedJson) as SavedCount)),
    );
    const counted = counts.prepare(callProjection, [condition], key);
    const { text, values: bound } = template(`SELECT (${counted.sql})::text AS answer`, {
      prepared: false,
    })({ company_id: world.company.id, ...values, ...counted.values });
    const [row] = await world.sql<{ answer: string }>(text, bound);
    const total = counted.read(row!.answer);
    const toSave = counts.takeUnsaved(key);
    if (toSave) saved?.set(key, JSON.stringify(toSave));
    return { total, from: counted.values.count_below as number };
  }

  const counted = async ([condition, values]: Condition): Promise<number> => {
    const { text, values: bound } = template(
      `SELECT count(*)::int AS n FROM calls t
      WHERE t.company_id = {company_id} AND t.deleted_at IS NULL AND ${condition}`,
      { prepared: false },
    )({ company_id: world.company.id, ...values });
    return (await world.sql<{ n: number }>(text, bound))[0]!.n;
  };

  const closeConnections = async () => {
    for (const client of open.splice(0)) await client.end();
  };
  return { add, addUnseen, connect, closeConnections, count, counted };
}
