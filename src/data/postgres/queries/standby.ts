import { sql, statement } from '../../sql';

/** Identifies the database: equal for a server and its standbys. */
const CLUSTER = sql`(
  SELECT concat(system_identifier, ' ', current_database())
  FROM pg_control_system()
)`;

/** Write position of the primary. Fails on a standby. */
export const WRITTEN = statement(
  'db.written',
  sql`
    SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS place, ${CLUSTER} AS cluster
  `,
  { prepared: false, nullable: [] },
);

/** Position up to which a standby shows the writes of the primary; on a primary, all of them. */
export const REPLAYED = statement(
  'db.replayed',
  sql`
    SELECT
      pg_wal_lsn_diff(
        CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
          ELSE pg_current_wal_lsn() END,
        '0/0'
      )::text AS place,
      ${CLUSTER} AS cluster
  `,
  { prepared: false, nullable: [] },
);
