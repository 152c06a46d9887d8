import { template, type Template } from '../statement';

/** Rows of a table that belong to one record and have a whole number as key instead of an id. */
export interface KeyedProjection {
  table: string;
  key: string;
  /** Conditions over t, with `{parameter}` for values. */
  conditions: string[];
  /** SQL of the stored number of rows that meet the conditions, if there is one. */
  total?: string;
  /** SQL of a row as JSON, and of its cells as CSV. */
  item: string;
  cells: Record<string, string>;
}

export interface KeyedPage {
  limit: number;
  offset: number;
  /** True if the page begins after the key in the parameter `after`. */
  is_after: boolean;
}

const buildWhere = ({ conditions }: KeyedProjection): string =>
  ['t.company_id = {company_id}', ...conditions].join(' AND ');

/** A page in the order of keys: total, key and item (JSON); one row of nulls for an empty page. */
export function keyedPageTemplate(
  rows: KeyedProjection,
  { limit, offset, is_after }: KeyedPage,
): Template {
  const { table, key, item } = rows;
  const where = buildWhere(rows);
  const total = rows.total ?? `SELECT count(*) FROM ${table} t WHERE ${where}`;
  const pageSql = `SELECT t.${key} AS key, (${item})::text AS item
    FROM ${table} t
    WHERE ${where} ${is_after ? `AND t.${key} > {after}::bigint` : ''}
    ORDER BY t.${key}
    LIMIT ${limit} OFFSET ${offset}`;
  return template(
    `SELECT c.total, p.key::text, p.item
    FROM (SELECT (${total})::text AS total) c
    LEFT JOIN LATERAL (${pageSql}) p ON true
    ORDER BY p.key`,
    { prepared: false, search: true },
  );
}

/** All rows, one SQL column for each cell, for COPY. */
export function keyedCsvTemplate(rows: KeyedProjection): Template {
  const columns = Object.entries(rows.cells).map(([name, sql]) => `${sql} AS ${name}`);
  return template(
    `SELECT ${columns.join(', ')}
    FROM ${rows.table} t
    WHERE ${buildWhere(rows)}
    ORDER BY t.${rows.key}`,
    { prepared: false },
  );
}
