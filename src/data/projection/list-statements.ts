import { buildVisibleCondition, isRare } from '../access/scope';
import type { Projection, Selection } from './projection';
import {
  cacheTemplate,
  csvCell,
  fieldSql,
  selectJoins,
  recordSql,
  selectedFields,
  selectionKey,
} from './projection-sql';
import type { Table } from '../references';
import { template, type Query, type Template } from '../statement';

// The statement of every list, in two shapes: a page, with the number of all rows, and a stream of
// all rows. Both select from the same ordered rows (`findRows`, `findInOrder`).
//
// A page is prepared if its best plan depends on no value, and planned for its values if planning
// the SQL of its records takes less than an exchange. Otherwise its keys are read first, and its
// records by them, with a prepared plan: decision 17.

/** The order of a list: SQL of the sort key, its type for cursors, and if it can be null. */
export interface SortKey {
  sql: string;
  type: 'text' | 'bigint' | 'double precision' | 'numeric' | 'boolean' | 'timestamptz';
  nullable?: boolean;
}

/** Sort keys of records that never change; sorting by id needs none. */
export const CHRONOLOGICAL: Record<string, SortKey> = {
  created_at: { sql: 't.created_at', type: 'timestamptz' },
};

/** The rows of which lists are made, over the alias t. */
interface ListRows {
  /** Distinguishes what is selected, for the cache of statements. */
  name: string;
  table: string;
  /** The column with a whole number that names a row: cursors are its values. */
  key: string;
  /** Conditions of every list of these rows. */
  conditions: readonly string[];
  joins: (sql: string) => string;
  /** SQL of a row as JSON text, and of its cells by name. */
  record: () => string;
  cells: () => Record<string, string>;
  /** True if the SQL of a record is planned in less time than an exchange takes. */
  is_quickly_planned?: boolean;
}

export interface ListShape {
  /** Conditions in addition to those of the rows. */
  conditions: readonly string[];
  sort: SortKey | 'key';
  descending: boolean;
  /** Rows to read; one more than a page shows whether another page follows. */
  limit?: number;
  offset?: number;
  /** Tells if the cursor's sort key was null; undefined without a cursor. */
  after?: 'null' | 'value' | undefined;
  /**
   * How to find the number of all records: not at all, by counting, or by the given SQL. With
   * `is_number`, that SQL is quick and returns the number itself.
   */
  total: 'none' | 'counted' | { sql: string; is_number?: true };
}

/** A row of a page; one row of nulls, with the total, for an empty page. */
export interface ListRow {
  total: string | null;
  record: string | null;
  key: string | null;
  id: string | null;
}

/** The records of a resource, as lists show them. */
export const toListRows = (projection: Projection, selection: Selection): ListRows => ({
  name: selectionKey(projection, selection),
  table: projection.plural,
  key: 'id',
  conditions: [
    't.company_id = {company_id}',
    ...(projection.appendOnly ? [] : ['t.deleted_at IS NULL']),
  ],
  joins: (sql) => selectJoins(projection, sql),
  record: () => recordSql(projection, selection).select,
  cells: () =>
    Object.fromEntries(
      selectedFields(projection, selection).map((field) => [
        field.name,
        csvCell(field, fieldSql(projection, field, selection)),
      ]),
    ),
});

/** A list, and the values of the parameters in its conditions. */
export interface List {
  rows: ListRows;
  shape: ListShape;
  values: Record<string, unknown>;
}

export async function readPage(query: Query, { rows, shape, values }: List): Promise<ListRow[]> {
  if (rows.is_quickly_planned || isPlain(rows, shape))
    return query<ListRow>(pageTemplate(rows, shape)(values));
  const page = await query<ListRow>(keysTemplate(rows, shape)(values));
  const ids = page.flatMap(({ id }) => id ?? []);
  if (ids.length === 0) return page;
  const records = await query<ListRow>(recordsTemplate(rows)({ ...values, ids }));
  const recordById = new Map(records.map(({ id, record }) => [id, record]));
  return page.map((row) => ({ ...row, record: recordById.get(row.id) ?? null }));
}

/** True if the best plan of a page depends on no value. */
const isPlain = ({ table }: ListRows, shape: ListShape): boolean =>
  shape.limit !== undefined &&
  !shape.offset &&
  shape.conditions.every((condition) => condition === buildVisibleCondition(table as Table)) &&
  !findsRowsFirst(shape);

/** A whole page in one exchange. */
export const pageTemplate = (rows: ListRows, shape: ListShape): Template =>
  cacheTemplate(`page|${shapeKey(rows, shape)}`, () => {
    const prepared = !rows.is_quickly_planned;
    return template(pageSql(findRows(rows, shape), rows, rows.record()), {
      prepared,
      search: !prepared,
    });
  });

/** A page without its records: the statement is small, and quickly planned for its values. */
export const keysTemplate = (rows: ListRows, shape: ListShape): Template =>
  cacheTemplate(`keys|${shapeKey(rows, shape)}`, () =>
    template(pageSql(findRows(rows, shape), rows, 'NULL'), { prepared: false, search: true }),
  );

/** The page whose keys are `ids`. */
export const recordsTemplate = (rows: ListRows): Template =>
  cacheTemplate(`records|${rows.name}`, () =>
    template(selectSql(findByKeys(rows), rows, recordSelect(rows)), { prepared: true }),
  );

/** All rows, one SQL column for each cell, for COPY. */
export function streamTemplate(rows: ListRows, shape: ListShape): Template {
  const cells = Object.entries(rows.cells()).map(([name, sql]) => `${sql} AS "${name}"`);
  const select = cells.join(',\n');
  // A subquery delays the joins; where there are none, it costs a tenth more.
  const isOneTable = shape.sort === 'key' && !shape.after && rows.joins(select) === '';
  const sql = isOneTable
    ? `SELECT ${select} FROM ${matchingSql(rows, shape.conditions)} ORDER BY ${orderSql(rows, shape)}`
    : selectSql(findInOrder(rows, shape), rows, select);
  return template(sql, { prepared: false });
}

/**
 * A statement that returns the sort key of one record as text, also of a deleted one: the page
 * after that record begins there. `condition` limits the records that may be named.
 */
export function positionTemplate(
  projection: Projection,
  { sql }: SortKey,
  condition: string | undefined,
): Template {
  return cacheTemplate(`position|${projection.schema}|${sql}|${condition ?? ''}`, () => {
    const where = ['t.company_id = {company_id}', 't.id = {after_id}::bigint', condition ?? 'true'];
    const joins = selectJoins(projection, `${sql} ${where.join(' ')}`);
    return template(
      `SELECT (${sql})::text AS key FROM ${projection.plural} t ${joins}
WHERE ${where.join(' AND ')}`,
      { prepared: true },
    );
  });
}

/** SQL of a count that each write maintains (src/data/counts/counters.ts). */
export const cachedCount = (resource: string): string =>
  `(SELECT coalesce(sum(n), 0) FROM record_counts
    WHERE company_id = {company_id} AND resource = '${resource}')`;

/**
 * True if finding the rows is most of the work: for a text search, for a limited caller who sees
 * few of many rows, and for a period. Rows of a period have neighbouring ids, so a walk along the
 * ids would pass everything before it; they are found in the order of its time.
 */
export const findsRowsFirst = ({ conditions, sort }: Pick<ListShape, 'conditions' | 'sort'>) =>
  conditions.some((condition) => isRare(condition) || condition.includes('{fulltext}')) ||
  conditions.some((condition) => isOfPeriod(condition, conditions) && !isBySort(condition, sort));

/**
 * A period of creation or end; a period of another time only if it has both ends, because it has
 * few rows then.
 */
const isOfPeriod = (condition: string, conditions: readonly string[]): boolean =>
  /\bt\.(created|ended)_at [<>]/.test(condition) ||
  (condition.includes('_at_from}') &&
    conditions.some((otherCondition) => otherCondition.includes('_at_to}')));

const isBySort = (condition: string, sort: SortKey | 'key'): boolean =>
  sort !== 'key' && condition.startsWith(sort.sql);

/** The rows of a list as a FROM item with the alias t, in their order. */
interface OrderedRows {
  /** CTEs that the rest reads: WITH and a line break, or nothing. */
  ctes: string;
  from: string;
  order: string;
  /** SQL of the sort key as text, for cursors. */
  sort_key: string;
  /**
   * SQL after SELECT for the column `total`. A count of a CTE has it in its FROM: as a subselect,
   * the page takes a tenth longer, because PostgreSQL frees and requests its memory each time.
   */
  total: string;
}

const recordSelect = ({ record, key }: ListRows): string =>
  `${record()} AS record, t.${key}::text AS id`;

const pageSql = (ordered: OrderedRows, rows: ListRows, record: string): string => {
  const select = `${record} AS record, ${ordered.sort_key} AS key, t.${rows.key}::text AS id`;
  return `${ordered.ctes}SELECT c.total, p.record, p.key, p.id
FROM (SELECT ${ordered.total}) c
LEFT JOIN LATERAL (
${selectSql(ordered, rows, select)}
) p ON true`;
};

const selectSql = ({ from, order }: OrderedRows, rows: ListRows, select: string): string =>
  `SELECT ${select} FROM ${from}\n${rows.joins(select)}\nORDER BY ${order}`;

function findByKeys({ table, key }: ListRows): OrderedRows {
  const from = `(
  SELECT t.*, k.n AS sort_key
  FROM unnest({ids}::bigint[]) WITH ORDINALITY AS k(id, n)
  JOIN ${table} t ON t.company_id = {company_id} AND t.${key} = k.id
) t`;
  return { ctes: '', from, order: 't.sort_key', sort_key: 'NULL', total: 'NULL AS total' };
}

function findRows(rows: ListRows, shape: ListShape): OrderedRows {
  if (!findsRowsFirst(shape)) return findInOrder(rows, shape);
  const { total, sort, conditions } = shape;
  const matching = `SELECT t.${rows.key} FROM ${matchingSql(rows, conditions)}`;
  if (total === 'counted') {
    const among = [`t.${rows.key} IN (SELECT ${rows.key} FROM matching)`];
    const ordered =
      sort === 'key'
        ? sortKeys(rows, shape, 'matching')
        : findInOrder(rows, { ...shape, conditions: among });
    const ctes = `WITH matching AS MATERIALIZED (${matching})\n`;
    return { ...ordered, ctes, total: 'count(*)::text AS total FROM matching' };
  }
  if (sort !== 'key') return findInOrder(rows, shape);
  // OFFSET 0 makes PostgreSQL find the rows first.
  const keys = `(${matching} OFFSET 0)`;
  if (total === 'none' || !total.is_number) return sortKeys(rows, shape, keys);
  // The number of rows decides between finding all of them and walking along the keys.
  const ordered = sortKeys(rows, shape, keys, `c.n <= ${MAX_SORTED_ROWS}`);
  const walk = { ...shape, conditions: [...conditions, `c.n > ${MAX_SORTED_ROWS}`] };
  return {
    ...ordered,
    from: `(
  SELECT * FROM ${ordered.from}
  UNION ALL
  SELECT t.${rows.key} FROM ${findInOrder(rows, walk).from}
) t`,
    total: `n::text AS total, n FROM (SELECT ${total.sql} AS n OFFSET 0) counted`,
  };
}

/** Finding and sorting more rows takes longer than walking along the keys to a page of them. */
const MAX_SORTED_ROWS = 50_000;

/** A page of keys that are found first. */
function sortKeys(rows: ListRows, shape: ListShape, keys: string, condition = 'true'): OrderedRows {
  const order = orderSql(rows, shape);
  const cursor = shape.after ? `AND ${keysetParts(rows, shape)[0]}` : '';
  return {
    ctes: '',
    from: `(
  SELECT t.${rows.key} FROM ${keys} t
  WHERE ${condition} ${cursor} ORDER BY ${order} ${limitSql(shape)}
) t`,
    order,
    sort_key: 'NULL',
    total: totalSql(rows, shape),
  };
}

/** The rows of a page as PostgreSQL finds them in their order. */
function findInOrder(rows: ListRows, shape: ListShape): OrderedRows {
  const { sort, conditions, after } = shape;
  const cursor = after ? keysetParts(rows, shape) : [];
  const before = [...rows.conditions, ...conditions];
  const key = sort === 'key' ? undefined : sort.sql;
  const select = key ? `t.*, ${key} AS sort_key` : 't.*';
  const joins = rows.joins([key ?? '', ...before, ...cursor].join(' '));
  const buildPart = (where: string[]) => `(
  SELECT ${select} FROM ${rows.table} t ${joins}
  WHERE ${where.join(' AND ')} ORDER BY ${orderSql(rows, shape, key)} ${limitSql(shape)}
)`;
  const order = orderSql(rows, shape, key && 't.sort_key');
  const parts = cursor.map((further) => buildPart([...before, further]));
  const union = `(SELECT * FROM (${parts.join(' UNION ALL ')}) t ORDER BY ${order} ${limitSql(shape)})`;
  return {
    ctes: '',
    from: `${parts.length > 1 ? union : (parts[0] ?? buildPart(before))} t`,
    order,
    sort_key: key ? 't.sort_key::text' : 'NULL',
    total: totalSql(rows, shape),
  };
}

function orderSql({ key }: ListRows, { descending }: ListShape, sortKey?: string): string {
  const direction = descending ? 'DESC' : 'ASC';
  return `${sortKey ? `${sortKey} ${direction}, ` : ''}t.${key} ${direction}`;
}

/** LIMIT and OFFSET as literals: as parameters they can get a plan that reads the whole table. */
function limitSql({ limit, offset }: ListShape): string {
  if (limit === undefined) return '';
  return offset ? `LIMIT ${limit} OFFSET ${offset}` : `LIMIT ${limit}`;
}

/**
 * The rows after the cursor, in up to two parts, each in the order of an index. PostgreSQL sorts
 * nulls last ascending and first descending.
 */
function keysetParts({ key }: ListRows, { sort, descending, after }: ListShape): string[] {
  const beyond = descending ? '<' : '>';
  const next = `t.${key} ${beyond} {after_id}::bigint`;
  if (sort === 'key') return [next];
  if (after === 'null') {
    const nulls = `${sort.sql} IS NULL AND ${next}`;
    return descending ? [nulls, `${sort.sql} IS NOT NULL`] : [nulls];
  }
  const cursor = `({after_key}::${sort.type}, {after_id}::bigint)`;
  const further = `(${sort.sql}, t.${key}) ${beyond} ${cursor}`;
  return sort.nullable && !descending ? [further, `${sort.sql} IS NULL`] : [further];
}

function totalSql(rows: ListRows, { total, conditions }: ListShape): string {
  if (total === 'none') return 'NULL AS total';
  const counted = () => `SELECT count(*) FROM ${matchingSql(rows, conditions)}`;
  return `(${total === 'counted' ? counted() : total.sql})::text AS total`;
}

/** The rows that meet the conditions, as a FROM item with its WHERE. */
function matchingSql(rows: ListRows, conditions: readonly string[]): string {
  const where = [...rows.conditions, ...conditions].join(' AND ');
  return `${rows.table} t ${rows.joins(where)} WHERE ${where}`;
}

function shapeKey(rows: ListRows, shape: ListShape): string {
  const { conditions, sort, descending, limit, offset, after, total } = shape;
  return [
    rows.name,
    conditions.join('&'),
    sort === 'key' ? sort : sort.sql,
    descending,
    limit,
    offset,
    after,
    typeof total === 'string' ? total : total.sql,
  ].join('|');
}
