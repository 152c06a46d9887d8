import { sql, statement } from '../../../data/sql';

/** The time of the transaction, and thus of everything it reads. */
export const READ_MOMENT = statement('backup.read_moment', sql`SELECT now() AS taken_at`, {
  prepared: false,
});

/** Applied migrations, oldest first. */
export const LIST_MIGRATIONS = statement(
  'backup.list_migrations',
  sql`
    SELECT migration_name AS name
    FROM _prisma_migrations
    WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL
    ORDER BY migration_name
  `,
  { prepared: false },
);

/** Columns of the table of jobs, as an SQL list. */
export const JOB_COLUMNS = statement(
  'backup.job_columns',
  sql`
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
    FROM pg_attribute a
    WHERE a.attrelid = to_regclass('jobs.job') AND a.attnum > 0 AND NOT a.attisdropped
      AND a.attgenerated = ''
  `,
  { prepared: false },
);

/** Blocks changes of tables by migrations until the transaction ends; everything else continues. */
export const lockTables = (tables: string[]): string =>
  `LOCK TABLE ${tables.join(', ')} IN ACCESS SHARE MODE`;

/** All rows of a table that is known only at run time. */
export const copyOut = (table: string, columns: string): string =>
  `COPY (SELECT ${columns} FROM ${table}) TO STDOUT`;

export const copyJobsOut = (columns: string): string =>
  `COPY (SELECT ${columns} FROM jobs.job) TO STDOUT`;
