import { sql, statement } from '../../sql';

// Tables, constraints and sequences, for copies of whole databases.

/** Commands that drop foreign keys and further indexes, and those that create them again. */
export const LIST_CONSTRUCTION = statement(
  'db.list_construction',
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

/** The tables, the largest first, with their stored columns and the column that names a company. */
export const LIST_TABLES = statement(
  'db.list_tables',
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
      AND c.relname <> '_prisma_migrations'
    ORDER BY pg_total_relation_size(c.oid) DESC, c.relname
  `,
  { prepared: false, nullable: ['company_column'] },
).returning<{ name: string; columns: string }>();

export const LIST_USED_SEQUENCES = statement(
  'db.list_used_sequences',
  sql`
    SELECT sequencename::text AS name, last_value::text AS last_value
    FROM pg_sequences
    WHERE schemaname = {schema} AND last_value IS NOT NULL
  `,
  { prepared: false },
);

export const LIST_SEQUENCES = statement(
  'db.list_sequences',
  sql`
    SELECT sequencename::text AS name, format('%I.%I', schemaname, sequencename) AS sql
    FROM pg_sequences
    WHERE schemaname = {schema}
  `,
  { prepared: false },
).returning<{ name: string; sql: string }>();

export const SET_SEQUENCE = statement(
  'db.set_sequence',
  sql`
    SELECT setval({sequence}::text::regclass, {value}::bigint)
    WHERE coalesce(pg_sequence_last_value({sequence}::text::regclass), 0) < {value}::bigint
  `,
  { prepared: false },
);
