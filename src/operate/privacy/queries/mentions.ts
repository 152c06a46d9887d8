import { sql, SqlText } from '../../../data/sql';
import { template, type Template } from '../../../data/statement';
import { COUNTED_TABLES, REDACTED_TABLES, WHOLE_ROWS, type ColumnRule } from '../ownership';
import { emptyRow } from './erase';
import { joinSql } from './rows';
import { isMentioned, toPlainDigits } from './spelled';

// Searches texts for a person, a window of rows at a time.

/** The last row of a window, and how many of its rows mention the person. */
export interface SearchedWindow {
  last: string;
  mentioned: number;
}

export interface Search {
  table: string;
  search: Template;
}

/** A company owns the row of companies with its id, and rows of other tables by company_id. */
const matchCompany = (table: string): SqlText =>
  table === 'companies' ? sql`t.id = {company_id}` : sql`t.company_id = {company_id}`;

/** Reads the next rows; `write` is an UPDATE or DELETE of those that mention the person. */
function searchRows(table: string, columns: readonly ColumnRule[], write?: SqlText): Search {
  const from = new SqlText(table);
  const mentioned = joinSql(
    columns.map(({ name }) => isMentioned(`t.${name}`).text),
    ' OR ',
  );
  const matches = sql`${matchCompany(table)} AND t.id IN (SELECT p.id FROM part p)
    AND (${mentioned})`;
  const counted = write
    ? sql`${write} WHERE ${matches} RETURNING 1`
    : sql`SELECT FROM ${from} t WHERE ${matches}`;
  const { text } = sql`
    WITH part AS (
      SELECT t.id
      FROM ${from} t
      WHERE ${matchCompany(table)} AND t.id > {after}::bigint
      ORDER BY t.id
      LIMIT {limit}::int
    ),
    matching AS (${counted})
    SELECT max(p.id)::text AS last, (SELECT count(*)::int FROM matching) AS mentioned FROM part p`;
  return { table, search: template(text, { prepared: false }) };
}

function redactColumn({ name, is_list }: ColumnRule): string {
  const redact = (text: string) =>
    sql`regexp_replace(${toPlainDigits(text)}, {pattern}::text, '[erased]', 'gi')`.text;
  if (!is_list) return `${name} = ${redact(`t.${name}`)}`;
  return `
    ${name} = CASE
      WHEN t.${name} IS NOT NULL
      THEN ARRAY(
        SELECT ${redact('e.text')}
        FROM unnest(t.${name}) WITH ORDINALITY AS e (text, n)
        ORDER BY e.n
      )
    END`;
}

const REDACTIONS = REDACTED_TABLES.map(({ table, columns }) =>
  searchRows(
    table,
    columns,
    sql`UPDATE ${new SqlText(table)} t SET ${joinSql(columns.map(redactColumn), ', ')}`,
  ),
);

/** Columns with a condition of their own are no texts. */
const WHOLE = WHOLE_ROWS.map((table) => {
  const name = new SqlText(table.name);
  const columns = table.rules.filter(
    ({ words, where }) => !where && (words.includes('erased') || words.includes('deleted')),
  );
  return searchRows(
    table.name,
    columns,
    table.deletedRows
      ? sql`DELETE FROM ${name} t`
      : sql`UPDATE ${name} t SET ${new SqlText(emptyRow(table))}`,
  );
});

export const ERASING_SEARCHES: readonly Search[] = [...REDACTIONS, ...WHOLE];

export const COUNTING_SEARCHES: readonly Search[] = COUNTED_TABLES.map(({ table, columns }) =>
  searchRows(table, columns),
);
