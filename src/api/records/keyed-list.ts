import {
  keyedCsvTemplate,
  keyedPageTemplate,
  type KeyedProjection,
} from '../../data/projection/projection-keyed';
import type { Db } from '../../data/db';
import { copyOut } from './copy-out';
import { END, START } from './cursor';
import { pageReply } from './list';
import { type ListQuery } from './filters';
import type { Csv, Json } from '../reply/reply';

/** Rows with a key of their own instead of an id, and the values of their conditions. */
export interface KeyedRows extends KeyedProjection {
  db: Db;
  root: string;
  values: Record<string, unknown>;
}

type Query = Pick<ListQuery, 'page' | 'per_page' | 'cursor' | 'root' | 'format'>;

/** A row of a page; one row of nulls, with the total, for an empty page. */
interface Row {
  total: string;
  key: string | null;
  item: string | null;
}

/** A page of rows in the order of their keys, or all rows as CSV. */
export async function keyedList<T>(query: Query, rows: KeyedRows): Promise<Json<T> | Csv> {
  const { db, root } = rows;
  const { per_page = 25, page = 1, cursor } = query;
  const values = { company_id: db.company_id, after: toAfterKey(cursor), ...rows.values };
  if (query.format === 'csv') return copyOut(db, keyedCsvTemplate(rows)(values), root);
  const template = keyedPageTemplate(rows, {
    // One row more than a page shows whether another page follows.
    limit: cursor === END ? 0 : per_page + 1,
    offset: cursor === undefined ? (page - 1) * per_page : 0,
    is_after: cursor !== undefined,
  });
  const pageRows = await db.query<Row>(template(values));
  const shown = pageRows.filter(({ item }) => item !== null).slice(0, per_page);
  return pageReply<T>(root, query, {
    records: shown.map(({ item }) => item!),
    total_count: Number(pageRows[0]!.total),
    next_cursor: pageRows.length > per_page ? Number(shown.at(-1)!.key) : 0,
  });
}

/** The key that a page begins after; keys are not negative. */
const toAfterKey = (cursor: number = START): string => String(cursor);
