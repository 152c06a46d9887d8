import { sqlOn } from '../../db/sql';
import type { Db } from '../../db/tenant';
import { writeLogs as write, type TenantLogEntry } from '../write-logs';

export type { LogEntry } from '../write-logs';

/** For callers that still pass a Db: writeLogs of leads/write-logs.ts takes `db.sql`. */
export const writeLogs = (
  { query }: Pick<Db, 'query'>,
  entries: readonly TenantLogEntry[],
  now: Date,
): Promise<string[]> =>
  write(sqlOn({ query: async (bound) => ({ rows: await query(bound) }) }), entries, now);
