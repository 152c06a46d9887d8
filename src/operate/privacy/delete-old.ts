import { moveCount } from '../../data/counts/counters';
import { deleteInPortions, PORTION } from '../../data/portions';
import type { Db } from '../../data/db';
import type { Config } from '../../platform/config';
import type { Deps } from '../../domain/deps';
import { forEach } from '../../data/jobs/each';
import {
  DELETE_CALLS,
  DELETE_CONVERSIONS,
  DELETE_PARTS_OF_CALLS,
  LOCK_CALLS,
} from './queries/calls';
import { DELETE_LEADS, DELETE_PARTS_OF_LEADS, DETACH_CALLS, LOCK_LEADS } from './queries/leads';
import {
  DELETE_CHANGE_LOGS,
  DELETE_EMAILS,
  DELETE_TEXTS,
  LIST_COMPANIES,
  LIST_DELETED_LEADS,
  LIST_OLD_CALLS,
  LIST_OLD_LEADS,
} from './queries/old-records';

// Deletes records after a limited time, if the operator has set one. Several processes may do this
// at once. Locks: leads in the order of ids, then calls in the order of ids.

/** Days for which each kind of record is kept; 0 is forever. */
export type Retention = Pick<
  Config,
  'call_days' | 'lead_days' | 'message_days' | 'change_log_days'
>;

const DAY_MS = 24 * 3_600_000;

type Context = Pick<Deps, 'database' | 'tenants' | 'clock'>;

/** Deletes all records of the companies of a database that are older than their retention. */
export async function deleteOldRecords(
  { database, tenants, clock }: Context,
  retention: Retention,
): Promise<void> {
  const before = (days: number) => new Date(clock().getTime() - days * DAY_MS).toISOString();
  const { call_days, lead_days, message_days, change_log_days } = retention;
  if (Math.max(call_days, lead_days, message_days, change_log_days) === 0) return;
  await forEach(await database.sql(LIST_COMPANIES, {}), async ({ id }) => {
    const db = tenants.of(BigInt(id));
    if (message_days > 0) {
      await deleteInPortions(() => deleteRows(db, DELETE_TEXTS, before(message_days)));
      await deleteInPortions(() => deleteRows(db, DELETE_EMAILS, before(message_days)));
    }
    if (lead_days > 0)
      for (const list of [LIST_OLD_LEADS, LIST_DELETED_LEADS])
        await deleteInPortions(() => deleteListed(db, list, before(lead_days), deleteLeads));
    if (call_days > 0)
      await deleteInPortions(() =>
        deleteListed(db, LIST_OLD_CALLS, before(call_days), deleteCalls),
      );
    if (change_log_days > 0)
      await deleteInPortions(() => deleteRows(db, DELETE_CHANGE_LOGS, before(change_log_days)));
  });
}

type DeleteStatement = typeof DELETE_TEXTS | typeof DELETE_EMAILS | typeof DELETE_CHANGE_LOGS;

async function deleteRows(db: Db, statement: DeleteStatement, before: string): Promise<number> {
  const [row] = await db.sql(statement as typeof DELETE_TEXTS, { before, limit: PORTION });
  return row!.deleted!;
}

type ListStatement = typeof LIST_OLD_CALLS | typeof LIST_OLD_LEADS | typeof LIST_DELETED_LEADS;

async function deleteListed(
  db: Db,
  list: ListStatement,
  before: string,
  deleteAll: (tx: Db, ids: string[]) => Promise<void>,
): Promise<number> {
  const rows = await db.sql(list as typeof LIST_OLD_CALLS, { before, limit: PORTION });
  const ids = rows.map(({ id }) => id!);
  if (ids.length > 0) await db.transaction((tx) => deleteAll(tx, ids));
  return ids.length;
}

async function deleteCalls({ sql }: Db, ids: string[]): Promise<void> {
  await sql(LOCK_CALLS, { ids });
  await sql(DELETE_PARTS_OF_CALLS, { ids });
  await sql(DELETE_CONVERSIONS, { ids });
  await sql(DELETE_CALLS, { ids });
}

async function deleteLeads(tx: Db, listed: string[]): Promise<void> {
  const { sql } = tx;
  const locked = await sql(LOCK_LEADS, { ids: listed });
  const ids = locked.map(({ id }) => id);
  await sql(DELETE_PARTS_OF_LEADS, { ids });
  await sql(DETACH_CALLS, { ids });
  await sql(DELETE_LEADS, { ids });
  const counted = locked.filter(({ is_counted }) => is_counted);
  if (counted.length > 0) await moveCount(tx, 'leads', -counted.length);
}
