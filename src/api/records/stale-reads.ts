import type { Database } from '../../data/client';
import { openRequestAccess } from '../../data/lanes';
import { sqlOn, tenantSql } from '../../data/sql';
import type { Standby } from '../../data/postgres/standby';
import { queryOn, type BoundStatement } from '../../data/statement';
import { buildTenantKey } from '../../data/tenant';
import { type Db } from '../../data/db';
import { isUnavailable } from '../reply/database-errors';

// Requests that say `stale_ok` read from a standby, where there is one that is not too old. Reads
// that fail there are repeated on the primary. The rest of the request goes to the primary anyway:
// authentication, transactions, writes.

/** The header that says how old the data of an answer are, in seconds. */
export const DATA_AGE = 'X-Data-Age';

/** Canceled, because a statement ran out of time: the primary would cancel it too. */
const QUERY_CANCELED = '57014';

export interface StaleReads {
  /** Like `db`, but it reads from the standby where that is possible. */
  of(db: Db): Db;
}

/** Without a standby, everything is read from the primary. */
export function staleReads(primary: Database, standby: Standby | undefined): StaleReads {
  if (!standby) return { of: (db) => ({ ...db, stale: { age_seconds: () => 0, primary: db } }) };
  const openStandbyLanes = openRequestAccess(standby.database);
  const lanesOfPrimary = openRequestAccess(primary);
  return {
    of: (db) => {
      const age = standby.age();
      let wasRead = false;
      const stale = {
        age_seconds: () => (wasRead ? Math.ceil(age! / 1000) : 0),
        primary: db,
        read: () => void (wasRead = true),
      };
      if (age === undefined) return { ...db, stale };
      const lanes = openStandbyLanes(db.company_id, 'usual');
      const primaryLanes = lanesOfPrimary(db.company_id, 'usual');
      const connection = {
        query: async (bound: BoundStatement) => {
          const lane = lanes.chooseLane(bound);
          try {
            const read = await lanes.run(lane, () => standby.database[lane].query(bound));
            stale.read();
            return read;
          } catch (error) {
            if (!mayBeReadElsewhere(error)) throw error;
            return primaryLanes.run(lane, () => primary[lane].query(bound));
          }
        },
      };
      return {
        ...db,
        key: buildTenantKey(standby.database.name, db.company_id),
        sql: tenantSql(sqlOn(connection), db.company_id),
        query: queryOn(() => connection),
        streams: standby.database.streams,
        stale,
      };
    },
  };
}

/** The standby is the reason: it is down, it restarts, or it must replay a change. */
function mayBeReadElsewhere(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  if (code === QUERY_CANCELED) return /recovery/.test(message ?? '');
  return isUnavailable(error);
}
