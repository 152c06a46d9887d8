import { to as copyTo } from 'pg-copy-streams';
import pg from 'pg';
import {
  csvTemplate,
  fieldsOf,
  isFoundFirst,
  cachedCount,
  keysTemplate,
  listTemplate,
  recordsTemplate,
  unknownColumns,
  type ListShape,
  type Projection,
  type SortKey,
} from '../db/projection';
import type { BoundStatement } from '../db/statement';
import { alsoVisible, visible, type AccessScope } from '../db/access-scope';
import { identify, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import { HttpProblem } from '../errors';
import { ianaName } from '../time/zone';
import { isExternal, isGrid } from './record';
import { Csv, Json } from './reply';

/** The parameters that every list takes. */
export interface ListQuery {
  ids?: Reference[];
  page?: number;
  per_page?: number;
  cursor?: string;
  created_at_from?: string;
  created_at_to?: string;
  fulltext?: string;
  time_zone?: string;
  columns?: string[];
  root?: boolean;
  order?: string;
  order_dir?: 'asc' | 'desc';
  format?: 'json' | 'csv';
  serializer?: string;
}

/** A filter whose values are known: SQL over t of each of them, and of how many there are where that is known without counting them. */
export interface FilterByCase {
  cases: Record<string, string>;
  totals?: Record<string, string>;
}

/** Conditions of a resource's own filters, by parameter: SQL over t with `{parameter}` for the value, or by case. */
export type Filters = Record<string, string | FilterByCase>;

export interface ListOptions {
  db: Db;
  now: Date;
  projection: Projection;
  /** Sort keys by the contract's names; `id` needs none. */
  orders: Record<string, SortKey>;
  filters?: Filters;
}

interface Row {
  total: string | null;
  record: string | null;
  key: string | null;
  id: string | null;
}

interface Envelope {
  status: number;
  success: true;
  metadata: {
    root: string;
    page: number | null;
    total_pages: number;
    per_page: number;
    total_count: number;
    next_cursor: number | string;
  };
}
type ListReply<P extends Projection> = Json<(Envelope & { [R in P['plural']]: never[] }) | never[]>;

/** A page of a resource, or all of it as CSV: every rule of lists is here and nowhere else. */
export function list<P extends Projection>(
  query: ListQuery,
  options: ListOptions & { projection: P },
): Promise<ListReply<P> | Csv> {
  return query.format === 'csv' ? csv(planList(query, options), options) : page(query, options);
}

/** A page of a resource that is not offered as CSV. */
export async function page<P extends Projection>(
  query: ListQuery,
  options: ListOptions & { projection: P },
): Promise<ListReply<P>> {
  const plan = planList(query, options);
  const { per_page = 25 } = query;
  const rows = await readPage(plan, options);
  const shown = rows.filter((row) => row.record !== null).slice(0, per_page);
  const next_cursor = rows.length > per_page ? cursorAfter(shown.at(-1)!, query, plan.shape) : 0;
  const unknown_columns = unknownColumns(options.projection, query.columns);
  return pageReply(options.projection.plural, query, {
    records: shown.map(({ record }) => record!),
    total_count: Number(rows[0]?.total),
    next_cursor,
    ...(unknown_columns.length > 0 && { unknown_columns }),
  });
}

interface Page {
  /** JSON of each. */
  records: string[];
  total_count: number;
  next_cursor: number | string;
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
  const page = query.cursor === undefined ? (query.page ?? 1) : null;
  const metadata = {
    root,
    page,
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

/** In one prepared statement where every value has the same best plan; else first which records, then the records. */
async function readPage({ shape, values }: Plan, { db, projection }: ListOptions): Promise<Row[]> {
  const is_plain =
    shape.conditions.every((condition) => condition === visible(projection.plural)) &&
    !isFoundFirst(shape);
  if (is_plain && !shape.offset) return db.query<Row>(listTemplate(projection, shape)(values));
  const keys = await db.query<Omit<Row, 'record'>>(keysTemplate(projection, shape)(values));
  const ids = keys.flatMap(({ id }) => id ?? []);
  if (ids.length === 0) return keys.map((key) => ({ ...key, record: null }));
  const records = new Map(
    (
      await db.query<{ record: string; id: string }>(
        recordsTemplate(projection, shape)({ ...values, ids }),
      )
    ).map(({ id, record }) => [id, record]),
  );
  return keys.map((key) => ({ ...key, record: records.get(key.id!) ?? null }));
}

interface Plan {
  shape: ListShape;
  values: Record<string, unknown>;
}

function planList(
  query: ListQuery,
  { db, now, projection, orders, filters = {} }: ListOptions,
): Plan {
  const {
    per_page = 25,
    page = 1,
    cursor,
    order,
    order_dir,
    time_zone,
    columns,
    root = true,
  } = query;
  const sort = (order && orders[order]) || 'id';
  const after = cursor === undefined ? undefined : parseCursor(cursor, query, sort);
  const { conditions, values, total } = narrow(query, projection, {
    filters,
    reach: db.accessScope,
  });
  const zone = time_zone === undefined ? undefined : ianaName(time_zone);
  const known = columns?.length
    ? fieldsOf(projection).flatMap(({ name }) => (columns.includes(name) ? name : []))
    : undefined;
  const csv = query.format === 'csv';
  const shape: ListShape = {
    columns: known,
    grid: isGrid(query.serializer),
    external: isExternal(query.serializer),
    limited: db.accessScope !== undefined,
    zone: zone === 'UTC' ? undefined : zone,
    conditions,
    sort,
    descending: order_dir === 'desc',
    ...(!csv && {
      limit: cursor === END ? 0 : per_page + 1,
      offset: cursor === undefined ? (page - 1) * per_page : 0,
    }),
    after: after && (after.key === null ? 'null' : 'value'),
    total: root && !csv ? (total ?? 'counted') : 'none',
  };
  return {
    shape,
    values: {
      company_id: db.company_id,
      now: now.toISOString(),
      zone,
      after_key: after?.key,
      after_id: after?.id,
      ...values,
    },
  };
}

interface Narrowed {
  conditions: string[];
  values: Record<string, unknown>;
  /** SQL of how many records there are, where that is known without counting them. */
  total: { sql: string } | undefined;
}

/** The conditions of ids, created_at_*, fulltext and the resource's own filters. */
function narrow(
  query: ListQuery,
  projection: Projection,
  { filters, reach }: { filters: Filters; reach: AccessScope | undefined },
): Narrowed {
  const conditions: string[] = [];
  const totals: (string | undefined)[] = [];
  const values: Record<string, unknown> = { ...reach };
  const add = (condition: string, name: string, value: unknown) => {
    conditions.push(condition);
    values[name] = value;
  };
  if (query.ids) {
    const named = query.ids.map(identify);
    add(
      '(t.id = ANY({ids}::bigint[]) OR t.uuid = ANY({uuids}::uuid[]))',
      'ids',
      named.flatMap((name) => (name?.key === 'id' ? [name.value] : [])),
    );
    values.uuids = named.flatMap((name) => (name?.key === 'uuid' ? [name.value] : []));
  }
  if (query.created_at_from)
    add('t.created_at >= {created_at_from}::timestamptz', 'created_at_from', query.created_at_from);
  if (query.created_at_to)
    add('t.created_at <= {created_at_to}::timestamptz', 'created_at_to', query.created_at_to);
  if (query.fulltext && projection.fulltext)
    add(
      `${projection.fulltext} LIKE {fulltext}`,
      'fulltext',
      `%${query.fulltext.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`,
    );
  const searched = reach && query.fulltext && alsoVisible('fulltext', projection.plural);
  if (searched) conditions.push(searched);
  for (const [name, condition] of Object.entries(filters)) {
    const value = (query as Record<string, unknown>)[name];
    if (value === undefined) continue;
    add(typeof condition === 'string' ? condition : condition.cases[String(value)]!, name, value);
    const beside = reach && alsoVisible(name, projection.plural);
    if (beside) conditions.push(beside);
    if (typeof condition !== 'string') totals.push(condition.totals?.[String(value)]);
  }
  if (conditions.length === 0 && projection.everlasting !== true)
    totals.push(cachedCount(projection.plural));
  const within = reach && visible(projection.plural);
  const [sql] = conditions.length <= 1 && !within ? totals : [];
  if (within) conditions.push(within);
  return { conditions, values, total: sql === undefined ? undefined : { sql } };
}

/** The cursor that a last page names: after it there is nothing. */
export const END = '0';

interface Position {
  key: string | null;
  id: string;
}

const orderName = ({ order = 'id', order_dir = 'asc' }: ListQuery): string =>
  `${order} ${order_dir}`;

/** By id, the position is the id itself; by another order it is opaque and remembers that order. */
function cursorAfter({ key, id }: Row, query: ListQuery, { sort }: ListShape): number | string {
  return sort === 'id'
    ? Number(id)
    : Buffer.from(JSON.stringify([orderName(query), key, id])).toString('base64url');
}

/** How PostgreSQL writes a key of each type, in a session whose zone is UTC. */
const KEYS: Record<SortKey['type'], RegExp> = {
  text: /^[^\0]{0,5000}$/,
  bigint: /^-?\d{1,18}$/,
  numeric: /^-?\d{1,15}(\.\d{1,10})?$/,
  'double precision': /^-?\d{1,15}(\.\d{1,20})?(e[+-]\d{1,3})?$/,
  boolean: /^(true|false)$/,
  timestamptz: /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?\+00$/,
};

/** Where a page begins: undefined for the first. */
function parseCursor(cursor: string, query: ListQuery, sort: SortKey | 'id'): Position | undefined {
  if (cursor === '-1' || cursor === END) return undefined;
  const by_id = (query.order ?? 'id') === 'id';
  const position = by_id
    ? /^\d{1,15}$/.test(cursor)
      ? { key: '', id: cursor }
      : undefined
    : parseOpaque(cursor, orderName(query));
  const readable =
    position && (sort === 'id' || position.key === null || KEYS[sort.type].test(position.key));
  if (!readable)
    throw HttpProblem.field(
      'cursor',
      'must be -1 or the metadata.next_cursor of a page in the same order',
    );
  return position;
}

function parseOpaque(cursor: string, order: string): Position | undefined {
  try {
    const [made_for, key, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [
      unknown,
      unknown,
      unknown,
    ];
    return made_for === order &&
      (key === null || typeof key === 'string') &&
      /^\d{1,15}$/.test(String(id))
      ? { key, id: String(id) }
      : undefined;
  } catch {
    return undefined;
  }
}

/** COPY takes no parameters: the values are put into the text by the driver's own quoting. */
function inline({ text, values }: { text: string; values: unknown[] }): string {
  return text.replace(/\$(\d+)\b/g, (_, n: string) => {
    const value = values[Number(n) - 1];
    if (value === null || value === undefined) return 'NULL';
    return pg.escapeLiteral(Array.isArray(value) ? `{${value.join(',')}}` : String(value));
  });
}

const csv = ({ shape, values }: Plan, { db, projection }: ListOptions): Promise<Csv> =>
  copyOut(db, csvTemplate(projection, shape)(values), projection.plural);

/** What a statement answers as CSV, streamed as PostgreSQL makes it. */
export async function copyOut(db: Db, statement: BoundStatement, name: string): Promise<Csv> {
  const client = await db.streams.connect();
  // The pool listens only to idle connections; one that breaks here must not end the process. The stream tells of it.
  client.on('error', () => undefined);
  const stream = client.query(copyTo(`COPY (${inline(statement)}) TO STDOUT (FORMAT csv, HEADER)`));
  // A caller who hangs up destroys the stream, and then its connection speaks up once more.
  stream.on('error', () => undefined);
  // A connection that was cut off in the middle of a COPY cannot be used again.
  stream.once('close', () => client.release(!stream.readableEnded));
  return new Csv(stream, `${name}.csv`);
}
