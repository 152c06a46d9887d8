import { sql, statement } from '../../db/sql';

// Filling the tables of a cell: rows first, then indexes and foreign keys, which is faster, and
// needs no order of the tables.

/** The commands that take foreign keys and further indexes away, and those that make them again. */
export const LIST_CONSTRUCTION = statement(
  'cells.list_construction',
  sql`
    SELECT x.take, x.make
    FROM (
      SELECT
        1 AS step,
        format('ALTER TABLE %s DROP CONSTRAINT %I', k.conrelid::regclass, k.conname) AS take,
        format(
          'ALTER TABLE %s ADD CONSTRAINT %I %s',
          k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid)
        ) AS make
      FROM pg_constraint k
      WHERE k.connamespace = {schema}::text::regnamespace AND k.contype = 'f'
      UNION ALL
      SELECT 2, format('DROP INDEX %s', i.indexrelid::regclass), pg_get_indexdef(i.indexrelid)
      FROM pg_index i
      JOIN pg_class c ON c.oid = i.indrelid
      WHERE c.relnamespace = {schema}::text::regnamespace
        AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid)
    ) x
    ORDER BY x.step, x.make
  `,
  { prepared: false },
);

/** Tables with rows of companies, and the columns that are stored. */
export const LIST_TABLES = statement(
  'cells.list_tables',
  sql`
    SELECT
      c.relname::text AS name,
      (
        SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
        FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      ) AS columns,
      (
        SELECT a.attname::text
        FROM pg_attribute a
        WHERE a.attrelid = c.oid
          AND a.attname = CASE c.relname WHEN 'companies' THEN 'id' ELSE 'company_id' END
      ) AS company_column
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace
      AND c.relkind = 'r'
      AND c.relname NOT IN ('_prisma_migrations', 'installations')
    ORDER BY pg_total_relation_size(c.oid) DESC, c.relname
  `,
  { prepared: false, nullable: ['company_column'] },
).returning<{ name: string; columns: string }>();

/** Deletes the rows of companies, $1, from a table whose name is not known before. */
export const deleteRows = (table: string, company_column: string): string =>
  `DELETE FROM ${table} WHERE ${company_column} = ANY ($1)`;
