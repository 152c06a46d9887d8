import { sql, statement } from '../../sql';

// Probes for a pooler such as PgBouncer in front of PostgreSQL, and for its effects on sessions.

/** A setting that a connection has made at its start. */
export const KEPT_SETTING = statement(
  'db.kept_setting',
  sql`SELECT current_setting({name}, true) AS value`,
  { prepared: false, nullable: ['value'] },
);

/** Prepared under its own name, which a pooler that handles prepared statements replaces. */
export const POOLER_PROBE = statement('db.pooler_probe', sql`SELECT 1 AS ok`, { prepared: true });

export const IS_PREPARED = statement(
  'db.is_prepared',
  sql`SELECT EXISTS (SELECT FROM pg_prepared_statements WHERE name = {name}) AS found`,
  { prepared: false },
);

export const SESSION_SETTINGS = statement(
  'db.session_settings',
  sql`SELECT name, setting FROM pg_settings WHERE name = ANY({names}::text[])`,
  { prepared: false },
).returning<{ name: string; setting: string }>();

export const OWN_PID = statement('db.own_pid', sql`SELECT pg_backend_pid() AS pid`, {
  prepared: false,
});

/** True if a session of this database holds an advisory lock, which no other database has. */
export const SEES_LOCK = statement(
  'db.sees_lock',
  sql`
    SELECT EXISTS (
      SELECT FROM pg_locks l
      JOIN pg_database d ON d.oid = l.database
      WHERE d.datname = current_database()
        AND l.locktype = 'advisory' AND l.granted
        AND l.objid::bigint = {lock}::bigint
        AND l.pid = {pid}
    ) AS found
  `,
  { prepared: false },
);
