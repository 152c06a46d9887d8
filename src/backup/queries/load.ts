import { sql, statement } from '../../db/sql';

/** Of several who restore into one database at once, one begins. */
export const LOCK_RESTORE = statement(
  'backup.lock_restore',
  sql`SELECT pg_try_advisory_lock({lock}::bigint) AS is_first`,
  { prepared: false },
);

/** Whether a database has tables, and those of an installation among them. */
export const HAS_TABLES = statement(
  'backup.has_tables',
  sql`
    SELECT to_regclass('public.installations') IS NOT NULL AS has_ours,
      EXISTS (
        SELECT FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
      ) AS has_any
  `,
  { prepared: false },
);

/** Whether somebody has used a database that has the tables of an installation. */
export const IS_USED = statement(
  'backup.is_used',
  sql`
    SELECT EXISTS (SELECT FROM companies) OR EXISTS (SELECT FROM installations) AS is_used
  `,
  { prepared: false },
);

/** Forgets what was agreed by the processes that the backup was made beside. */
export const FORGET_SETTINGS = statement(
  'backup.forget_settings',
  sql`UPDATE installations SET settings = NULL RETURNING storage_id`,
  { prepared: false },
);

/** Lets the next start choose the storage of files. */
export const FORGET_STORAGE = statement(
  'backup.forget_storage',
  sql`UPDATE installations SET storage_id = NULL`,
  { prepared: false },
);

/** Fills a table: its name and its columns are those of the database, never of an archive. */
export const copyIn = (table: string, columns: string): string =>
  `COPY ${table} (${columns}) FROM STDIN`;

/** A table of the session for jobs, until it is known which of them have a queue here. */
export const MAKE_JOBS =
  'CREATE TEMPORARY TABLE backup_jobs ON COMMIT DROP AS TABLE jobs.job WITH NO DATA';

/** Adds the jobs that have a queue in this version. The columns are those of the database. */
export const addJobs = (columns: string): string =>
  `INSERT INTO jobs.job (${columns})
  SELECT ${columns} FROM backup_jobs b WHERE b.name IN (SELECT q.name FROM jobs.queue q)
  ON CONFLICT DO NOTHING`;
