import { sql, statement } from '../../../data/sql';

/** The number after that of migrations (src/data/postgres/migrate.ts). */
const LOCK = sql`7481202`;

/** Takes the lock of commands that change cells, until the session ends. */
export const TAKE_LOCK = statement(
  'cells.take_lock',
  sql`SELECT pg_try_advisory_lock(${LOCK}) AS taken`,
  { prepared: false },
);

export const WAIT_FOR_LOCK = statement(
  'cells.wait_for_lock',
  sql`SELECT pg_advisory_lock(${LOCK})::text AS taken`,
  { prepared: false },
);

/** True while a command changes cells. */
export const IS_LOCKED = statement(
  'cells.is_locked',
  sql`
    SELECT EXISTS (
      SELECT FROM pg_locks l
      WHERE l.locktype = 'advisory' AND l.objid = ${LOCK} AND l.objsubid = 1 AND l.granted
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    ) AS is_locked
  `,
  { prepared: false },
);
