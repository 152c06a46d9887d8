import { sql, statement } from '../../../data/sql';

/** Stand-ins for the functions of Citus while statements are checked. */
const FUNCTIONS = sql`
  CREATE OR REPLACE FUNCTION citus_schema_move(regnamespace, text, int, text) RETURNS void
    LANGUAGE sql AS 'SELECT';
  CREATE OR REPLACE FUNCTION lock_shard_metadata(int, bigint[]) RETURNS void
    LANGUAGE sql AS 'SELECT';
  CREATE OR REPLACE FUNCTION recover_prepared_transactions() RETURNS int
    LANGUAGE sql AS 'SELECT 0';
  CREATE TEMP TABLE IF NOT EXISTS pg_dist_shard (logicalrelid regclass, shardid bigint);
`;

/** ShareLock, as Citus takes it for a write. */
const SHARE_LOCK = sql`5`;

/** Keeps Citus from ending a move until the transaction ends. */
export const DELAY_SWITCH = statement(
  'cells.delay_switch',
  sql`
    SELECT lock_shard_metadata(${SHARE_LOCK}, array_agg(d.shardid))
    FROM pg_dist_shard d
    WHERE d.logicalrelid = format('%I.companies', {schema}::text)::regclass
  `,
  { prepared: false, needs: FUNCTIONS },
);

/** Copies the tables of a schema to a node while they are written, then switches over. */
export const MOVE_SCHEMA = statement(
  'cells.move_schema',
  sql`
    SELECT citus_schema_move(
      {schema}::text::regnamespace, {host}::text, {port}::int, 'force_logical'
    )
  `,
  { prepared: false, needs: FUNCTIONS },
);

/** True if a session waits for a lock of Citus. */
export const IS_WAITING = statement(
  'cells.is_waiting',
  sql`
    SELECT EXISTS (
      SELECT FROM pg_locks l
      WHERE l.pid = {pid}::int AND l.locktype = 'advisory' AND NOT l.granted
    ) AS is_waiting
  `,
  { prepared: false },
);

export const END_MOVES = statement(
  'cells.end_moves',
  sql`
    SELECT pg_terminate_backend(pid) AS ended
    FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = {mover}
  `,
  { prepared: false },
);

export const LIST_MOVES = statement(
  'cells.list_moves',
  sql`
    SELECT pid
    FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = {mover}
  `,
  { prepared: false },
);

/** Ends the transactions of Citus over several nodes whose outcome is decided. */
export const RECOVER_TRANSACTIONS = statement(
  'cells.recover_transactions',
  sql`SELECT recover_prepared_transactions() AS recovered`,
  { prepared: false, needs: FUNCTIONS },
);

export const LIST_GATES = statement(
  'cells.list_gates',
  sql`
    SELECT gid
    FROM pg_prepared_xacts
    WHERE database = current_database() AND starts_with(gid, {prefix})
  `,
  { prepared: false },
);
