import type { Projection } from '../../data/projection/projection';
import { buildReferenceProblem } from '../../data/records';
import { OutdatedCount } from '../../data/counts/settled-counts';
import { copyOut } from './copy-out';
import { END } from './cursor';
import { planList, type Plan } from './plan-list';
import { Json, type Csv } from '../reply/reply';
import { csvTemplate, keysTemplate } from '../../data/projection/list-statements';
import { recordsTemplate } from '../../data/projection/record-statements';
import type { ListQuery } from './filters';
import type { ListOptions } from './plan-list';

// Every rule of lists is here, and in the files that it uses: src/api/records/filters.ts
// (selection), src/api/records/plan-list.ts (the statement), src/api/records/cursor.ts (where a
// page begins), src/api/records/copy-out.ts (CSV).

/** A row of a page; one row of nulls, with the total, for an empty page. */
interface Row {
  total: string | null;
  record: string | null;
  key: string | null;
  id: string | null;
}

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
  const { shape, values } = await planList(query, options);
  return copyOut(db, csvTemplate(projection, shape)(values), toRootName(projection));
}

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
  const { per_page = 25 } = query;
  const rows = await readPage(plan, options);
  const shown = rows.filter((row) => row.record !== null).slice(0, per_page);
  if (shown.length === 0) await requireKnownIds(query, options);
  const hasNext = rows.length > per_page;
  const { unknown_columns } = plan;
  return pageReply(toRootName(options.projection), query, {
    records: shown.map(({ record }) => record!),
    total_count: readTotal(plan, rows),
    next_cursor: hasNext ? Number(shown.at(-1)!.id) : END,
    ...(unknown_columns.length > 0 && { unknown_columns }),
  });
}

const readTotal = ({ settled }: Plan, [row]: Row[]): number =>
  settled ? settled.read(row!.total!) : Number(row?.total);

/** Throws 422 for ids of which none names a record: an empty list would not say so. */
async function requireKnownIds(
  { ids }: ListQuery,
  options: Omit<ListOptions, 'filters'>,
): Promise<void> {
  if (!ids || ids.length === 0) return;
  const plan = await planList({ ids, per_page: 1, root: false }, { ...options, filters: {} });
  const rows = await readPage(plan, options);
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

/**
 * In one prepared statement if its best plan does not depend on the values; otherwise the ids
 * first, planned for the values, and then their records.
 */
async function readPage(
  { shape, template, values }: Plan,
  { db, projection }: ListOptions,
): Promise<Row[]> {
  if (template) return db.query<Row>(template(values));
  const keys = await db.query<Omit<Row, 'record'>>(keysTemplate(projection, shape)(values));
  const ids = keys.flatMap(({ id }) => id ?? []);
  if (ids.length === 0) return keys.map((key) => ({ ...key, record: null }));
  const rows = await db.query<{ record: string; id: string }>(
    recordsTemplate(projection, shape)({ ...values, ids }),
  );
  const records = new Map(rows.map(({ id, record }) => [id, record]));
  return keys.map((key) => ({ ...key, record: records.get(key.id!) ?? null }));
}
