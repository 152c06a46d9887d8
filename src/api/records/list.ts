import type { Projection } from '../../data/projection/projection';
import { buildReferenceProblem } from '../../data/records';
import { OutdatedCount } from '../../data/counts/settled-counts';
import { copyOut } from './copy-out';
import { beginsPage, END } from './cursor';
import { buildLimits, planList, type Plan } from './plan-list';
import { Json, type Csv } from '../reply/reply';
import {
  readPage,
  streamTemplate,
  type List,
  type ListRow,
} from '../../data/projection/list-statements';
import type { Db } from '../../data/db';
import type { ListQuery } from './filters';
import type { ListOptions } from './plan-list';

// Every rule of lists is here, and in the files that it uses: src/api/records/filters.ts
// (selection), src/api/records/plan-list.ts (the statement), src/api/records/cursor.ts (where a
// page begins), src/api/records/copy-out.ts (CSV).

interface Envelope {
  status: number;
  success: boolean;
  metadata: {
    root: string;
    page: number | null;
    total_pages: number;
    per_page: number;
    total_count: number;
    next_cursor: number;
  };
}
/** The envelope that the contract declares; with root=false the bare array. */
type ListReply<P extends Projection> = Json<Envelope & { [R in RootName<P>]: never[] }>;
type RootName<P extends Projection> = P extends { root: infer Root extends string }
  ? Root
  : P['plural'];

const toRootName = ({ root, plural }: Projection): string => root ?? plural;

/** A page of a resource, or all of it as CSV. */
export async function list<P extends Projection>(
  query: ListQuery,
  options: ListOptions & { projection: P },
): Promise<ListReply<P> | Csv> {
  if (query.format !== 'csv') return page(query, options);
  const { db, projection } = options;
  await requireKnownIds(query, options);
  return streamList(db, await planList(query, options), toRootName(projection));
}

const streamList = (db: Db, { rows, shape, values }: List, root: string): Promise<Csv> =>
  copyOut(db, streamTemplate(rows, shape)(values), root);

/** A page of a resource that has no CSV format. */
export const page = <P extends Projection>(
  query: ListQuery,
  options: ListOptions & { projection: P },
): Promise<ListReply<P>> =>
  pageOnce(query, options).catch((error: unknown) => {
    if (error instanceof OutdatedCount) return pageOnce(query, options);
    throw error;
  });

async function pageOnce<P extends Projection>(
  query: ListQuery,
  options: ListOptions & { projection: P },
): Promise<ListReply<P>> {
  const plan = await planList(query, options);
  const rows = await readPage(options.db.query, plan);
  if (rows.every(({ record }) => record === null)) await requireKnownIds(query, options);
  const { unknown_columns } = plan;
  return pageReply(toRootName(options.projection), query, {
    ...cutPage(rows, query),
    total_count: readTotal(plan, rows),
    ...(unknown_columns.length > 0 && { unknown_columns }),
  });
}

/** One row more than a page shows whether another page follows. */
function cutPage(rows: ListRow[], { per_page = 25 }: Pick<ListQuery, 'per_page'>) {
  const shown = rows.filter(({ record }) => record !== null).slice(0, per_page);
  return {
    records: shown.map(({ record }) => record!),
    next_cursor: rows.length > per_page ? Number(shown.at(-1)!.id) : END,
  };
}

const readTotal = ({ settled }: Plan, [row]: ListRow[]): number =>
  settled ? settled.read(row!.total!) : Number(row?.total);

/** Throws 422 for ids of which none names a record: an empty list would not say so. */
async function requireKnownIds(
  { ids }: ListQuery,
  options: Omit<ListOptions, 'filters'>,
): Promise<void> {
  if (!ids || ids.length === 0) return;
  const plan = await planList({ ids, per_page: 1, root: false }, { ...options, filters: {} });
  const rows = await readPage(options.db.query, plan);
  if (rows.every(({ record }) => record === null))
    throw buildReferenceProblem('ids', ids.map(String));
}

interface Page {
  /** JSON of each. */
  records: string[];
  total_count: number;
  next_cursor: number;
  unknown_columns?: string[];
}

/** The envelope of a page, or with root=false the bare array. */
export function pageReply<T>(
  root: string,
  query: Pick<ListQuery, 'per_page' | 'page' | 'cursor' | 'root'>,
  { records, total_count, next_cursor, ...more }: Page,
): Json<T> {
  const array = `[${records.join(',')}]`;
  if (query.root === false) return new Json(array);
  const { per_page = 25 } = query;
  const metadata = {
    root,
    page: query.cursor === undefined ? (query.page ?? 1) : null,
    total_pages: Math.ceil(total_count / per_page),
    per_page,
    total_count,
    next_cursor,
    ...more,
  };
  return new Json(
    `{"status":200,"success":true,"${root}":${array},"metadata":${JSON.stringify(metadata)}}`,
  );
}

/** Rows with a key of their own instead of an id, and the values of their conditions. */
interface KeyedRows {
  db: Db;
  root: string;
  table: string;
  key: string;
  /** Conditions over t, with `{parameter}` for values. */
  conditions: string[];
  values: Record<string, unknown>;
  /** SQL of the stored number of rows that meet the conditions, if there is one. */
  total?: string;
  /** SQL of a row as JSON, and of its cells as CSV. */
  item: string;
  cells: Record<string, string>;
}

type KeyedQuery = Pick<ListQuery, 'page' | 'per_page' | 'cursor' | 'root' | 'format'>;

/** A page of rows in the order of their keys, or all rows as CSV. */
export async function keyedList<T>(query: KeyedQuery, keyed: KeyedRows): Promise<Json<T> | Csv> {
  const { db, root, table, key, conditions, total, item, cells } = keyed;
  const { cursor, format } = query;
  const rows = {
    name: table,
    table,
    key,
    conditions: ['t.company_id = {company_id}'],
    joins: () => '',
    record: () => `(${item})::text`,
    cells: () => cells,
    is_quickly_planned: true,
  };
  const shape = { conditions, sort: 'key', descending: false } as const;
  const values = { company_id: db.company_id, after_id: cursor, ...keyed.values };
  if (format === 'csv')
    return streamList(db, { rows, values, shape: { ...shape, total: 'none' } }, root);
  const pageRows = await readPage(db.query, {
    rows,
    values,
    shape: {
      ...shape,
      ...buildLimits(query),
      after: beginsPage(cursor) ? 'value' : undefined,
      total: total === undefined ? 'counted' : { sql: total },
    },
  });
  return pageReply<T>(root, query, {
    ...cutPage(pageRows, query),
    total_count: Number(pageRows[0]!.total),
  });
}
