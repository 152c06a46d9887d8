import { moveCount } from '../../data/counts/counters';
import { deleteInPortions, PORTION } from '../../data/portions';
import type { Table } from '../../data/references';
import type { Sql } from '../../data/sql';
import type { Db } from '../../data/db';
import type { Deps } from '../../domain/deps';
import { forEach } from '../../data/jobs/each';
import type { Retention } from './ownership';
import { DELETIONS, EXPIRIES, LIST_COMPANIES, type Deletion } from './queries/delete-old';

// Deletes records after a limited time, if the operator has set one. Several processes may do this
// at once. Locks: leads in the order of ids, then calls in the order of ids.

const DAY_MS = 24 * 3_600_000;

type Context = Pick<Deps, 'database' | 'tenants' | 'clock'>;

/** Deletes all records of the companies of a database that are older than their retention. */
export async function deleteOldRecords(
  { database, tenants, clock }: Context,
  retention: Retention,
): Promise<void> {
  const deletions = DELETIONS.filter(({ setting }) => retention[setting] > 0);
  if (deletions.length === 0) return;
  await forEach(await database.sql(LIST_COMPANIES, {}), async ({ id }) => {
    const db = tenants.of(BigInt(id));
    for (const deletion of deletions) {
      const oldest = clock().getTime() - retention[deletion.setting] * DAY_MS;
      const before = new Date(oldest).toISOString();
      await deleteInPortions(() => db.transaction((tx) => deletePortion(tx, deletion, before)));
    }
  });
}

async function deletePortion(
  tx: Db,
  { table, lock, statements }: Deletion,
  before: string,
): Promise<number> {
  const rows = await tx.sql(lock, { before, limit: PORTION });
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return 0;
  for (const statement of statements) await tx.sql(statement, { ids });
  const counted = rows.filter(({ was_counted }) => was_counted).length;
  if (counted > 0) await moveCount(tx, table as Table, -counted);
  return ids.length;
}

/** Deletes rows of all companies that have expired, table by table. */
export const deleteExpiredRows = (sql: Sql): Promise<void>[] =>
  EXPIRIES.map((statement) =>
    deleteInPortions(async () => {
      const [row] = await sql(statement, { limit: PORTION });
      return row!.deleted!;
    }),
  );
