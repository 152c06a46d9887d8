import { sql, statement } from '../../../data/sql';

/** Only one of several parallel restores into a database begins. */
export const LOCK_RESTORE = statement(
  'backup.lock_restore',
  sql`SELECT pg_try_advisory_lock({lock}::bigint) AS is_first`,
  { prepared: false },
);

/** Tells if a database has tables, and if those of an installation are among them. */
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

/** True if a database with the tables of an installation was used. */
export const IS_USED = statement(
  'backup.is_used',
  sql`
    SELECT EXISTS (SELECT FROM companies) OR EXISTS (SELECT FROM installations) AS is_used
  `,
  { prepared: false },
);

/** Forgets the settings that the processes of the old installation shared. */
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

/** Fills a table; its name and columns are those of the database, never of an archive. */
export const copyIn = (table: string, columns: string): string =>
  `COPY ${table} (${columns}) FROM STDIN`;

/** A temporary table for jobs, until it is known which of them this version has. */
export const MAKE_JOBS =
  'CREATE TEMPORARY TABLE backup_jobs ON COMMIT DROP AS TABLE jobs.job WITH NO DATA';

/** Adds the jobs of kinds that this version has ($1). The columns are those of the database. */
export const addJobs = (columns: string): string =>
  `INSERT INTO jobs.job (${columns})
  SELECT ${columns} FROM backup_jobs b WHERE b.name = ANY ($1::text[])
  ON CONFLICT DO NOTHING`;
