import { sql, statement } from '../../../data/sql';

/**
 * Tables with rows of companies, as a connection to the company's database sees them, and their
 * columns except digests and secrets, which are useless elsewhere.
 */
export const LIST_COMPANY_TABLES = statement(
  'backup.list_company_tables',
  sql`
    SELECT
      c.relname::text AS name,
      string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
        FILTER (WHERE a.attname !~ 'secret|digest|pepper') AS columns
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p', 'v') AND pg_table_is_visible(c.oid)
      AND c.relnamespace NOT IN (
        'pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'pg_toast'::regnamespace
      )
      AND c.relname <> ALL ({left_out}::text[])
    GROUP BY c.oid, c.relname
    HAVING bool_or(a.attname = 'company_id') OR c.relname = 'companies'
    ORDER BY c.relname
  `,
  { prepared: false },
).returning<{ name: string; columns: string }>();

/** The rows of a company, from a table that is known only at run time. */
export const copyCompanyOut = (table: string, columns: string, companyId: string): string =>
  `COPY (SELECT ${columns} FROM ${table} ` +
  `WHERE ${table === 'companies' ? 'id' : 'company_id'} = ${BigInt(companyId)}) ` +
  'TO STDOUT (FORMAT csv, HEADER)';
