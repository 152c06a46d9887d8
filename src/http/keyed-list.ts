import { template } from '../db/statement';
import type { Db } from '../db/tenant';
import { HttpProblem } from '../errors';
import { copyOut } from './copy-out';
import { END } from './cursor';
import { pageReply, type ListQuery } from './list';
import type { Csv, Json } from './reply';

/** Rows that belong to one record and have a whole number for a key instead of an id of their own. */
export interface KeyedRows {
  db: Db;
  root: string;
  table: string;
  key: string;
  /** Conditions over t, with `{parameter}` for values. */
  conditions: string[];
  values: Record<string, unknown>;
  /** SQL of the number of rows that meet the conditions, where it is kept somewhere. */
  total?: string;
  /** SQL of a row as JSON, and of its cells as CSV. */
  item: string;
  cells: Record<string, string>;
}

type Query = Pick<ListQuery, 'page' | 'per_page' | 'cursor' | 'root' | 'format'>;

/** A page of such rows in the order of their keys, or all of them as CSV. */
export async function keyedList<T>(query: Query, rows: KeyedRows): Promise<Json<T> | Csv> {
  const { db, root, table, key, conditions, values, item, cells } = rows;
  const { per_page = 25, page = 1, cursor } = query;
  const where = ['t.company_id = {company_id}', ...conditions].join(' AND ');
  const input = { company_id: db.company_id, after: afterOf(cursor), ...values };
  if (query.format === 'csv') {
    const columns = Object.entries(cells).map(([name, sql]) => `${sql} AS ${name}`);
    return copyOut(
      db,
      template(`SELECT ${columns.join(', ')} FROM ${table} t WHERE ${where} ORDER BY t.${key}`, {
        prepared: false,
      })(input),
      root,
    );
  }
  const total = rows.total ?? `SELECT count(*) FROM ${table} t WHERE ${where}`;
  const limit = cursor === END ? 0 : per_page + 1;
  const [beyond, offset] =
    cursor === undefined ? ['', (page - 1) * per_page] : [`AND t.${key} > {after}::bigint`, 0];
  const found = `SELECT t.${key} AS key, (${item})::text AS item FROM ${table} t WHERE ${where} ${beyond} ORDER BY t.${key} LIMIT ${limit} OFFSET ${offset}`;
  const sql = `SELECT c.total, p.key::text, p.item FROM (SELECT (${total})::text AS total) c LEFT JOIN LATERAL (${found}) p ON true ORDER BY p.key`;
  const answered = await db.query<{ total: string; key: string | null; item: string | null }>(
    template(sql, { prepared: false })(input),
  );
  const shown = answered.filter(({ item }) => item !== null).slice(0, per_page);
  return pageReply<T>(root, query, {
    records: shown.map(({ item }) => item!),
    total_count: Number(answered[0]!.total),
    next_cursor: answered.length > per_page ? Number(shown.at(-1)!.key) : 0,
  });
}

function afterOf(cursor: string | undefined): string {
  if (cursor === undefined || cursor === '-1') return '-1';
  if (!/^\d{1,15}$/.test(cursor))
    throw HttpProblem.field('cursor', 'must be -1 or the metadata.next_cursor of a page');
  return cursor;
}
