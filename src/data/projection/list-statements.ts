import { isRare } from '../access/scope';
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
import { template, type Template } from '../statement';

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

export const BY_TIMES: Record<string, SortKey> = {
  ...CHRONOLOGICAL,
  updated_at: { sql: 't.updated_at', type: 'timestamptz' },
};

export interface ListShape extends Selection {
  /** Conditions over t, in addition to the company and to not being deleted. */
  conditions: readonly string[];
  sort: SortKey | 'id';
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

/**
 * A statement that returns a page in one exchange: rows of total, record (JSON text), key and id;
 * one row of nulls for an empty page. Planned once, so only for pages whose best plan depends on no
 * value.
 */
export function listTemplate(projection: Projection, shape: ListShape): Template {
  return cacheTemplate(`list|${shapeKey(projection, shape)}`, () => {
    const { select } = recordSql(projection, shape);
    const { rows, order } = pageSql(projection, shape);
    return template(
      `SELECT c.total, p.record, p.key, p.id
FROM (SELECT (${totalSql(projection, shape)})::text AS total) c
LEFT JOIN LATERAL (
  SELECT ${select} AS record, ${sortKeySql(shape)} AS key, t.id::text AS id
  FROM ${rows}
  ${selectJoins(projection, select)}
  ORDER BY ${order}
) p ON true`,
      { prepared: true },
    );
  });
}

/**
 * Returns the keys of a page without its records. Planned for its values each time, which is quick
 * because the statement is small.
 */
export function keysTemplate(projection: Projection, shape: ListShape): Template {
  return cacheTemplate(`keys|${shapeKey(projection, shape)}`, () => {
    return template(buildKeysText(projection, shape), { prepared: false, search: true });
  });
}

function buildKeysText(projection: Projection, shape: ListShape): string {
  if (findsRowsFirst(shape)) {
    if (shape.total === 'counted') return sharedRowsSql(projection, shape);
    if (shape.sort === 'id')
      return hasNumber(shape) ? adaptiveIdsSql(projection, shape) : sortedSql(projection, shape);
  }
  return keysSql(projection, shape, totalSql(projection, shape));
}

/** A statement that returns the whole list, one SQL column for each column, for COPY. */
export function csvTemplate(projection: Projection, shape: ListShape): Template {
  const { rows, order } = pageSql(projection, shape);
  const cells = selectedFields(projection, shape).map(
    (field) => `${csvCell(field, fieldSql(projection, field, shape))} AS "${field.name}"`,
  );
  const select = cells.join(',\n');
  const joins = selectJoins(projection, select);
  return template(`SELECT ${select} FROM ${rows}\n${joins}\nORDER BY ${order}`, {
    prepared: false,
  });
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

const isBySort = (condition: string, sort: SortKey | 'id'): boolean =>
  sort !== 'id' && condition.startsWith(sort.sql);

const buildLivingConditions = ({ appendOnly }: Projection) => [
  't.company_id = {company_id}',
  ...(appendOnly ? [] : ['t.deleted_at IS NULL']),
];

/** The rows of a page as a FROM item with the alias t, and their order outside of it. */
function pageSql(projection: Projection, shape: ListShape): { rows: string; order: string } {
  const { sort, conditions, after } = shape;
  const cursor = after ? keysetParts(shape) : [];
  const before = [...buildLivingConditions(projection), ...conditions];
  const where = [...before, ...cursor].join(' AND ');
  const direction = toDirection(shape);
  const order = (key?: string) =>
    key ? `${key} ${direction}, t.id ${direction}` : `t.id ${direction}`;
  const key = sort === 'id' ? undefined : sort.sql;
  const select = key ? `t.*, ${key} AS sort_key` : 't.*';
  const joins = selectJoins(projection, `${key ?? ''} ${where}`);
  const rowsWhere = (which: string) => `(
  SELECT ${select} FROM ${projection.plural} t ${joins}
  WHERE ${which} ORDER BY ${order(key)} ${limitSql(shape)}
)`;
  const outer = order(key && 't.sort_key');
  const parts = cursor.map((further) => rowsWhere([...before, further].join(' AND ')));
  const rows =
    parts.length < 2
      ? `${parts[0] ?? rowsWhere(before.join(' AND '))} t`
      : `(SELECT * FROM (${parts.join(' UNION ALL ')}) t ORDER BY ${outer} ${limitSql(shape)}) t`;
  return { rows, order: outer };
}

const toDirection = ({ descending }: ListShape) => (descending ? 'DESC' : 'ASC');

/** LIMIT and OFFSET as literals: as parameters they can get a plan that reads the whole table. */
function limitSql({ limit, offset }: ListShape): string {
  if (limit === undefined) return '';
  return offset ? `LIMIT ${limit} OFFSET ${offset}` : `LIMIT ${limit}`;
}

/**
 * The rows after the cursor, in up to two parts, each in the order of an index. PostgreSQL sorts
 * nulls last ascending and first descending.
 */
function keysetParts({ sort, descending, after }: ListShape): string[] {
  const beyond = descending ? '<' : '>';
  const next = `t.id ${beyond} {after_id}::bigint`;
  if (sort === 'id') return [next];
  if (after === 'null') {
    const nulls = `${sort.sql} IS NULL AND ${next}`;
    return descending ? [nulls, `${sort.sql} IS NOT NULL`] : [nulls];
  }
  const cursor = `({after_key}::${sort.type}, {after_id}::bigint)`;
  const further = `(${sort.sql}, t.id) ${beyond} ${cursor}`;
  return sort.nullable && !descending ? [further, `${sort.sql} IS NULL`] : [further];
}

const sortKeySql = ({ sort }: ListShape): string => (sort === 'id' ? 'NULL' : 't.sort_key::text');

/** The keys of a page, with the total that the given SQL returns. */
function keysSql(projection: Projection, shape: ListShape, total: string): string {
  const { rows, order } = pageSql(projection, shape);
  return `SELECT c.total, p.key, p.id
FROM (SELECT (${total})::text AS total) c
LEFT JOIN LATERAL (
  SELECT ${sortKeySql(shape)} AS key, t.id::text AS id FROM ${rows} ORDER BY ${order}
) p ON true`;
}

/** The keys of a page, where one CTE finds the rows for the total and for the page. */
function sharedRowsSql(projection: Projection, shape: ListShape): string {
  const matchingCte = `WITH found AS MATERIALIZED (
  SELECT t.id FROM ${matchingSql(projection, shape.conditions)}
)`;
  if (shape.sort !== 'id') {
    const among = { ...shape, conditions: ['t.id IN (SELECT id FROM found)'] };
    return `${matchingCte}\n${keysSql(projection, among, 'SELECT count(*) FROM found')}`;
  }
  const cursor = shape.after ? `WHERE ${keysetParts(shape)[0]}` : '';
  return `${matchingCte}
SELECT c.total, NULL AS key, p.id::text AS id
FROM (SELECT count(*)::text AS total FROM found) c
LEFT JOIN LATERAL (
  SELECT t.id FROM found t ${cursor} ORDER BY t.id ${toDirection(shape)} ${limitSql(shape)}
) p ON true`;
}

/** Ids in their order, where other SQL returns the total. */
function sortedSql(projection: Projection, shape: ListShape): string {
  return `SELECT c.total, NULL AS key, p.id::text AS id
FROM (SELECT (${totalSql(projection, shape)})::text AS total) c
LEFT JOIN LATERAL (
  ${matchingIdsSql(projection, shape)}
) p ON true`;
}

const hasNumber = ({ total }: ListShape): boolean => typeof total === 'object' && !!total.is_number;

/** Finding and sorting more rows takes longer than walking along the ids to a page of them. */
const MAX_SORTED_ROWS = 50_000;

/** Ids in their order; the total decides between finding all rows and walking along the ids. */
function adaptiveIdsSql(projection: Projection, shape: ListShape): string {
  const { rows } = pageSql(projection, {
    ...shape,
    conditions: [...shape.conditions, `c.n > ${MAX_SORTED_ROWS}`],
  });
  return `SELECT c.n::text AS total, NULL AS key, p.id::text AS id
FROM (SELECT ${totalSql(projection, shape)} AS n OFFSET 0) c
LEFT JOIN LATERAL (
  SELECT * FROM (
    (${matchingIdsSql(projection, shape, `WHERE c.n <= ${MAX_SORTED_ROWS}`)})
    UNION ALL
    SELECT t.id FROM ${rows}
  ) t ORDER BY t.id ${toDirection(shape)}
) p ON true`;
}

/** The ids of a page. OFFSET 0 makes PostgreSQL find the rows first. */
function matchingIdsSql(projection: Projection, shape: ListShape, only = 'WHERE true'): string {
  const cursor = shape.after ? `AND ${keysetParts(shape)[0]}` : '';
  return `SELECT t.id FROM (
    SELECT t.id FROM ${matchingSql(projection, shape.conditions)} OFFSET 0
  ) t ${only} ${cursor} ORDER BY t.id ${toDirection(shape)} ${limitSql(shape)}`;
}

function totalSql(projection: Projection, { total, conditions }: ListShape): string {
  if (total === 'none') return 'NULL';
  if (total === 'counted') return `SELECT count(*) FROM ${matchingSql(projection, conditions)}`;
  return total.sql;
}

/** The company's rows that meet the conditions, as a FROM item. */
function matchingSql(projection: Projection, conditions: readonly string[]): string {
  const where = [...buildLivingConditions(projection), ...conditions].join(' AND ');
  return `${projection.plural} t ${selectJoins(projection, where)} WHERE ${where}`;
}

function shapeKey(projection: Projection, shape: ListShape): string {
  const { conditions, sort, descending, limit, offset, after, total } = shape;
  return [
    selectionKey(projection, shape),
    conditions.join('&'),
    sort === 'id' ? 'id' : sort.sql,
    descending,
    limit,
    offset,
    after,
    typeof total === 'string' ? total : total.sql,
  ].join('|');
}
