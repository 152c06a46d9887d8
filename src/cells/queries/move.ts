import { sql, statement } from '../../db/sql';

/** Stand for the functions of Citus while statements are checked. */
const FUNCTIONS = sql`
  CREATE OR REPLACE FUNCTION citus_schema_move(regnamespace, text, int, text) RETURNS void
    LANGUAGE sql AS 'SELECT';
  CREATE OR REPLACE FUNCTION lock_shard_metadata(int, bigint[]) RETURNS void
    LANGUAGE sql AS 'SELECT';
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

/** Copies the tables of a schema to a node while they are written, and switches over to them. */
export const MOVE_SCHEMA = statement(
  'cells.move_schema',
  sql`
    SELECT citus_schema_move(
      {schema}::text::regnamespace, {host}::text, {port}::int, 'force_logical'
    )
  `,
  { prepared: false, needs: FUNCTIONS },
);

/** Whether a session waits for a lock of Citus. */
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
