import { sql, statement } from '../../../data/sql';

// Run on the node with the tables of a cell. There a distributed table is an ordinary table, its
// shard, with a number at the end of its name.

const CATALOG = sql`
  CREATE TEMP TABLE IF NOT EXISTS pg_dist_shard (logicalrelid regclass, shardid bigint);
`;

const SHARDS = sql`
  SELECT
    c.oid, c.relname AS name,
    format('%I.%I', s.nspname, c.relname || '_' || d.shardid) AS shard,
    (
      SELECT a.attname
      FROM pg_attribute a
      WHERE a.attrelid = c.oid
        AND a.attname = CASE c.relname WHEN 'companies' THEN 'id' ELSE 'company_id' END
    ) AS company_column
  FROM pg_class c
  JOIN pg_namespace s ON s.oid = c.relnamespace
  JOIN pg_dist_shard d ON d.logicalrelid = c.oid
  WHERE s.nspname = {schema} AND NOT c.relispartition`;

/** The shard of each table of a schema, with its stored columns. */
export const LIST_SHARDS = statement(
  'cells.list_shards',
  sql`
    SELECT
      x.name, x.shard, x.company_column::text AS company_column,
      (
        SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
        FROM pg_attribute a
        WHERE a.attrelid = x.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      ) AS columns
    FROM (${SHARDS}) x
    ORDER BY x.name
  `,
  { prepared: false, needs: CATALOG },
).returning<{ name: string; shard: string; company_column: string; columns: string }>();

/**
 * Commands that make a view of each shard, with its table's name and defaults. Statements use the
 * system columns ctid, xmin and xmax, which views lack by default. A company that leaves is not in
 * the views, and its rows cannot be written through them.
 */
export const LIST_VIEWS = statement(
  'cells.list_views',
  sql`
    SELECT
      format(
        'CREATE OR REPLACE VIEW %I.%I AS SELECT *, ctid, xmin, xmax FROM %s',
        {local}::text, x.name, x.shard
      )
      || CASE
        WHEN x.company_column IS NOT NULL AND {leaving}::bigint > 0
        THEN format(
          ' WHERE %I <> %s WITH CASCADED CHECK OPTION', x.company_column, {leaving}::bigint
        )
        ELSE ''
      END
      || coalesce(
        (
          SELECT string_agg(
            format(
              '; ALTER VIEW %I.%I ALTER COLUMN %I SET DEFAULT %s',
              {local}::text, x.name, a.attname,
              regexp_replace(
                pg_get_expr(d.adbin, d.adrelid),
                'nextval[(]''(?:[^.'']+[.])?([^.'']+)''',
                'nextval(''' || {ids}::text || '.\1'''
              )
            ),
            ''
          )
          FROM pg_attrdef d
          JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
          WHERE d.adrelid = x.oid AND a.attgenerated = ''
        ),
        ''
      ) AS command
    FROM (${SHARDS}) x
    ORDER BY x.name
  `,
  { prepared: false, needs: CATALOG },
);

/** Deletes the rows of companies, $1, from a table that is known only at run time. */
export const deleteRows = (table: string, companyColumn: string): string =>
  `DELETE FROM ${table} WHERE ${companyColumn} = ANY ($1)`;
