import { sqlOn, type Sql } from '../../data/sql';
import { runInTransaction } from '../../data/transaction';
import type { Deps } from '../deps';
import { forEach } from '../../data/jobs/each';
import {
  BATCH,
  DELETE_DELIVERIES,
  DELETE_LOGS,
  LIST_COMPANIES_WITH_DELIVERIES,
  LIST_COMPANIES_WITH_LOGS,
  LIST_OLDEST_DELIVERIES,
  LIST_OLDEST_LOGS,
  LOCK_LOGS_OF_DELIVERIES,
} from './queries/logs';

type Context = Pick<Deps, 'database' | 'clock'>;

const DAY_MS = 24 * 3_600_000;

/**
 * Deletes deliveries with their logs once the last attempt is `days` old, and logs of pre-dial
 * requests of that age. Deliveries that wait are kept.
 */
export async function deleteOldWebhookLogs(
  { database, clock }: Context,
  days: number,
): Promise<void> {
  const before = new Date(clock().getTime() - days * DAY_MS).toISOString();
  await forEach(await database.sql(LIST_COMPANIES_WITH_DELIVERIES, {}), ({ company_id }) =>
    deleteBatches(database, {
      list: (after) => database.sql(LIST_OLDEST_DELIVERIES, { company_id, before, after }),
      delete: async (sql, ids) => {
        await sql(LOCK_LOGS_OF_DELIVERIES, { company_id, ids });
        await sql(DELETE_DELIVERIES, { company_id, ids, before });
      },
    }),
  );
  await forEach(await database.sql(LIST_COMPANIES_WITH_LOGS, {}), ({ company_id }) =>
    deleteBatches(database, {
      list: (after) => database.sql(LIST_OLDEST_LOGS, { company_id, before, after }),
      delete: (sql, ids) => sql(DELETE_LOGS, { company_id, ids }),
    }),
  );
}

interface Deletion {
  list: (after: string) => Promise<{ id: string; is_old: boolean; is_deletable: boolean }[]>;
  delete: (sql: Sql, ids: readonly string[]) => Promise<unknown>;
}

/** Reads the rows of a company in the order of ids, until one is young enough to be kept. */
async function deleteBatches(database: Deps['database'], deletion: Deletion): Promise<void> {
  for (let after = '0', hasMore = true; hasMore;) {
    const rows = await deletion.list(after);
    const deletable = rows.filter(({ is_old, is_deletable }) => is_old && is_deletable);
    const ids = deletable.map(({ id }) => id);
    if (ids.length > 0)
      await runInTransaction(database.pool, (client) => deletion.delete(sqlOn(client), ids));
    const last = rows.at(-1);
    hasMore = rows.length === BATCH && last!.is_old;
    after = last?.id ?? after;
  }
}
