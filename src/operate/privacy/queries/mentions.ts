import { sql, SqlText } from '../../../data/sql';
import { template, type Template } from '../../../data/statement';
import { EMPTY_CHANGE_LOG, EMPTY_DELIVERY, EMPTY_WEBHOOK_LOG } from './erase';
import { isMentioned, toPlainDigits } from './spelled';

// Searches texts for a person, a window of rows at a time. The tables and columns are those of
// src/operate/privacy/personal-data.ts.

/** The last row of a window, and how many of its rows mention the person. */
export interface SearchedWindow {
  last: string;
  mentioned: number;
}

const toTemplate = ({ text }: SqlText): Template => template(text, { prepared: false });

const joinSql = (parts: readonly SqlText[], separator: string): SqlText =>
  new SqlText(parts.map(({ text }) => text).join(separator));

/** Columns that are lists are declared with brackets. */
const toColumnName = (column: string): string => column.replace('[]', '');

const isAnyMentioned = (columns: readonly string[]): SqlText =>
  joinSql(
    columns.map((column) => isMentioned(`t.${toColumnName(column)}`)),
    ' OR ',
  );

/** A company owns the row of companies with its id, and rows of other tables by company_id. */
const matchCompany = (table: string): SqlText =>
  table === 'companies' ? sql`t.id = {company_id}` : sql`t.company_id = {company_id}`;

const nextRows = (table: string): SqlText => sql`
  SELECT t.id
  FROM ${new SqlText(table)} t
  WHERE ${matchCompany(table)} AND t.id > {after}::bigint
  ORDER BY t.id
  LIMIT {limit}::int`;

function updateMentioned(
  table: string,
  columns: readonly string[],
  assignments: SqlText,
): Template {
  return toTemplate(sql`
    WITH part AS (${nextRows(table)}),
    changed AS (
      UPDATE ${new SqlText(table)} t
      SET ${assignments}
      WHERE ${matchCompany(table)} AND t.id IN (SELECT p.id FROM part p)
        AND (${isAnyMentioned(columns)})
      RETURNING 1
    )
    SELECT max(p.id)::text AS last, (SELECT count(*)::int FROM changed) AS mentioned FROM part p
  `);
}

function redactColumn(column: string): SqlText {
  const name = new SqlText(toColumnName(column));
  const redact = (text: string) =>
    sql`regexp_replace(${toPlainDigits(text)}, {pattern}::text, '[erased]', 'gi')`;
  if (!column.endsWith('[]')) return sql`${name} = ${redact(`t.${column}`)}`;
  return sql`
    ${name} = CASE
      WHEN t.${name} IS NOT NULL
      THEN ARRAY(
        SELECT ${redact('e.text')}
        FROM unnest(t.${name}) WITH ORDINALITY AS e (text, n)
        ORDER BY e.n
      )
    END`;
}

export const redactMentions = (table: string, columns: readonly string[]): Template =>
  updateMentioned(table, columns, joinSql(columns.map(redactColumn), ', '));

export const countMentions = (table: string, columns: readonly string[]): Template =>
  toTemplate(sql`
    WITH part AS (${nextRows(table)})
    SELECT
      max(p.id)::text AS last,
      (
        SELECT count(*)::int
        FROM ${new SqlText(table)} t
        WHERE ${matchCompany(table)} AND t.id IN (SELECT q.id FROM part q)
          AND (${isAnyMentioned(columns)})
      ) AS mentioned
    FROM part p
  `);

/** Change logs and webhook requests: a row that mentions the person is emptied. */
export const EMPTYING_TEMPLATES: Readonly<Record<string, Template>> = {
  change_logs: updateMentioned('change_logs', ['changes', 'client_request_id'], EMPTY_CHANGE_LOG),
  webhook_deliveries: updateMentioned(
    'webhook_deliveries',
    ['request_url', 'request_headers', 'request_body'],
    EMPTY_DELIVERY,
  ),
  webhook_logs: updateMentioned(
    'webhook_logs',
    ['request_url', 'request_headers', 'request_body', 'response_body', 'notes'],
    EMPTY_WEBHOOK_LOG,
  ),
};
