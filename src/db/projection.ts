import { contract, facets, type Schema, type Schemas } from '../contract';
import { isRare, masked } from './access-scope';
import { template, type Template } from './statement';
import type { Table } from './records';

/** SQL of one column over the row t: an expression, or true for the table's column of the same name. */
export type Column = string | true;

/**
 * How a resource is read: its table as t, and for every column of its contract schema the SQL that gives it. The same projection serves
 * show, list, CSV and the record in the answer to a write. `{company_id}`, `{now}` and `{zone}` may be used in expressions.
 */
export interface Projection<
  Name extends keyof Schemas = keyof Schemas,
  Singular extends string = string,
  Plural extends Table = Table,
> {
  schema: Name;
  singular: Singular;
  /** The collection's root key, which is also the table's name. */
  plural: Plural;
  columns: { [C in keyof Required<Schemas[Name]>]: Column };
  /** Further row sources by alias, in the order they are joined; only those that a chosen column uses are. */
  joins?: Record<string, string>;
  /** The text that `fulltext` searches, as its index spells it. */
  fulltext?: string;
  /** Whether its records are never deleted. They are written so often that no count of them is kept, unless they are `counted`. */
  everlasting?: true | 'counted';
}

/** A column of a resource, as the contract declares it. */
interface Field {
  name: string;
  schema: Schema;
  grid: boolean;
  external: boolean;
}

const fieldsKept = new Map<string, Field[]>();

/** The columns of a resource in the contract's order. */
export function fieldsOf(projection: Projection): Field[] {
  const kept = fieldsKept.get(projection.schema);
  if (kept) return kept;
  const { properties = {} } = contract.document.components.schemas[projection.schema]!;
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    grid: schema['x-grid'] === true,
    external: schema['x-external'] === true,
  }));
  fieldsKept.set(projection.schema, fields);
  return fields;
}

const stillKept = new Map<string, string[]>();

/** The columns that do not move by themselves, without those of the `_grid` serializer. */
export function stillColumns(projection: Projection): string[] {
  let still = stillKept.get(projection.schema);
  if (!still) {
    still = fieldsOf(projection).flatMap(({ name, schema, grid }) =>
      grid || schema['x-moving'] ? [] : name,
    );
    stillKept.set(projection.schema, still);
  }
  return still;
}

export interface Selection {
  /** Only these; all when absent. */
  columns?: readonly string[] | undefined;
  /** Whether the columns of the `_grid` serializer come too. */
  grid?: boolean;
  /** Whether only what outsiders may see comes: the `_external` serializer. */
  external?: boolean;
  /** Whether the caller sees a part of the company's records alone: other columns do not tell of the rest. Takes the parameter `teams`. */
  limited?: boolean;
  /** IANA zone of the times, UTC when absent. Its value goes into the parameter `zone`. */
  zone?: string | undefined;
}

function chosen(
  projection: Projection,
  { columns, grid = false, external = false }: Selection,
): Field[] {
  const wanted = columns && new Set(columns);
  const fields = fieldsOf(projection).filter((field) => !external || field.external);
  return fields.filter(({ name, grid: only_grid }) =>
    wanted ? wanted.has(name) : grid || !only_grid,
  );
}

/** The names among `columns` that the resource does not have. */
export function unknownColumns(projection: Projection, columns: readonly string[] = []): string[] {
  const known = new Set(fieldsOf(projection).map(({ name }) => name));
  return [...new Set(columns)].filter((name) => !known.has(name));
}

function columnSql(projection: Projection, name: string): string {
  const column = (projection.columns as Record<string, Column>)[name];
  if (column === undefined) throw new Error(`projection ${projection.schema} lacks ${name}`);
  return column === true ? `t.${name}` : column;
}

const maskedSql = (projection: Projection, name: string): string =>
  masked(name, columnSql(projection, name), (other) =>
    other in projection.columns ? columnSql(projection, other) : undefined,
  );

function expression(
  projection: Projection,
  { name, schema }: Field,
  { zone, limited }: Selection,
): string {
  const sql = limited ? maskedSql(projection, name) : columnSql(projection, name);
  if (!facets(schema).formats.has('date-time')) return sql;
  return zone
    ? `iso_local(${sql}, {zone})`
    : `to_char(${sql}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"')`;
}

const uses = (sql: string, alias: string) => new RegExp(`\\b${alias}\\.`).test(sql);

/** The joins that SQL needs, with the joins those need. */
function joinsFor(projection: Projection, sql: string): string {
  const all = Object.entries(projection.joins ?? {});
  const needed = new Set<string>();
  for (const [alias, join] of all.toReversed()) {
    const text = sql + [...needed].map((name) => projection.joins?.[name]).join(' ');
    if (uses(text, alias) && join) needed.add(alias);
  }
  return all
    .filter(([alias]) => needed.has(alias))
    .map(([, join]) => join)
    .join('\n');
}

/** Rows to read, as SQL that can stand in FROM, with alias t. */
const ROWS = {
  one: (table: string, key: string) =>
    `(SELECT t.* FROM ${table} t WHERE t.company_id = {company_id} AND t.${key} AND t.deleted_at IS NULL) t`,
  deleted: (table: string) =>
    `(SELECT t.* FROM ${table} t WHERE t.company_id = {company_id} AND t.id = {id}::bigint) t`,
  unsaved: (table: string) => `jsonb_populate_record(NULL::${table}, {row}::jsonb) t`,
};

const templates = new Map<string, Template>();

function kept(key: string, make: () => Template): Template {
  let found = templates.get(key);
  if (!found) {
    // Shapes are made of request parameters: bounded.
    if (templates.size >= 5_000) templates.clear();
    templates.set(key, (found = make()));
  }
  return found;
}

const shapeOf = (projection: Projection, { columns, grid, external, limited, zone }: Selection) =>
  `${projection.schema}|${columns?.join() ?? '*'}|${grid ? 'g' : ''}${external ? 'e' : ''}${limited ? 'l' : ''}|${zone ? 'z' : ''}`;

function recordSql(
  projection: Projection,
  selection: Selection,
): { select: string; joins: string } {
  const expressions = chosen(projection, selection).map(
    (field) => `${expression(projection, field, selection)} AS "${field.name}"`,
  );
  const select = `(SELECT row_to_json(r) FROM (SELECT ${expressions.join(',\n')}) r)::text`;
  return { select, joins: joinsFor(projection, select) };
}

/** A statement's part that answers records as JSON text in the column `record`, of rows that another part of it makes; `more` are further columns. */
export function selectRecords(
  projection: Projection,
  rows: string,
  { more, ...selection }: Selection & { more: string },
): string {
  const { select, joins } = recordSql(projection, selection);
  return `SELECT ${select} AS record, ${more} FROM ${rows} t\n${joins}`;
}

export type RecordSource = 'id' | 'uuid' | 'user_buyer_id' | 'deleted' | 'unsaved';

/** A statement that answers one record as JSON text in the column `record`. Takes company_id, now, and id, uuid, user_buyer_id or row. */
export function recordTemplate(
  projection: Projection,
  source: RecordSource,
  selection: Selection,
): Template {
  return kept(`record|${source}|${shapeOf(projection, selection)}`, () => {
    const { select, joins } = recordSql(projection, selection);
    const conditions = {
      id: 'id = {id}::bigint',
      uuid: 'uuid = {uuid}::uuid',
      user_buyer_id: 'user_buyer_id = {user_buyer_id}',
    };
    const rows =
      source === 'unsaved'
        ? ROWS.unsaved(projection.plural)
        : source === 'deleted'
          ? ROWS.deleted(projection.plural)
          : ROWS.one(projection.plural, conditions[source]);
    return template(`SELECT ${select} AS record FROM ${rows}\n${joins}`, { prepared: true });
  });
}

/** The order of a list: SQL of the sort key, its type for cursors, and whether it can be null. */
export interface SortKey {
  sql: string;
  type: 'text' | 'bigint' | 'double precision' | 'numeric' | 'boolean' | 'timestamptz';
  nullable?: boolean;
}

export interface ListShape extends Selection {
  /** Conditions over t, ANDed to company and life. */
  conditions: readonly string[];
  sort: SortKey | 'id';
  descending: boolean;
  /** Rows to read; one more than a page tells whether another follows. */
  limit?: number;
  offset?: number;
  /** Where the page before ended: its key was null, was not, or there is none. */
  after?: 'null' | 'value' | undefined;
  /** How many records there are in all is not asked, is counted, or is known by an SQL. */
  total: 'none' | 'counted' | { sql: string };
}

const living = ({ everlasting }: Projection) => [
  't.company_id = {company_id}',
  ...(everlasting ? [] : ['t.deleted_at IS NULL']),
];

function listSql(
  projection: Projection,
  shape: ListShape,
): { rows: string; order: string; joins: (select: string) => string } {
  const { sort, descending, conditions, limit, offset, after } = shape;
  const direction = descending ? 'DESC' : 'ASC';
  const by_id = sort === 'id';
  const where = [...living(projection), ...conditions, ...(after ? [keyset(shape)] : [])].join(
    ' AND ',
  );
  const order = by_id ? `t.id ${direction}` : `t.sort_key ${direction}, t.id ${direction}`;
  const inner = by_id ? order : `${sort.sql} ${direction}, t.id ${direction}`;
  const key = by_id ? '' : `, ${sort.sql} AS sort_key`;
  const page = limit === undefined ? '' : `LIMIT ${limit}${offset ? ` OFFSET ${offset}` : ''}`;
  const rows = `(SELECT t.*${key} FROM ${projection.plural} t ${joinsFor(projection, key + where)} WHERE ${where} ORDER BY ${inner} ${page}) t`;
  return { rows, order, joins: (select) => joinsFor(projection, select) };
}

/** Rows after the cursor. PostgreSQL sorts nulls last ascending and first descending. */
function keyset({ sort, descending, after }: ListShape): string {
  const beyond = descending ? '<' : '>';
  if (sort === 'id') return `t.id ${beyond} {after_id}::bigint`;
  const next = `t.id ${beyond} {after_id}::bigint`;
  if (after === 'null')
    return descending
      ? `(${sort.sql} IS NOT NULL OR ${next})`
      : `(${sort.sql} IS NULL AND ${next})`;
  const key = `{after_key}::${sort.type}`;
  const further = `(${sort.sql}, t.id) ${beyond} (${key}, {after_id}::bigint)`;
  return sort.nullable && !descending ? `(${further} OR ${sort.sql} IS NULL)` : further;
}

const sortKeySql = ({ sort }: ListShape): string => (sort === 'id' ? 'NULL' : 't.sort_key::text');
const shapeKey = (projection: Projection, shape: ListShape): string => {
  const { conditions, sort, descending, limit, offset, after, total } = shape;
  const how = typeof total === 'string' ? total : total.sql;
  return [
    shapeOf(projection, shape),
    conditions.join('&'),
    sort === 'id' ? 'id' : sort.sql,
    descending,
    limit,
    offset,
    after,
    how,
  ].join('|');
};

/**
 * A statement that answers a page in one go: rows of total, record (JSON text), key and id; one row of nulls for an empty page. Planned once,
 * so only for pages whose best plan depends on no value.
 */
export function listTemplate(projection: Projection, shape: ListShape): Template {
  return kept(`list|${shapeKey(projection, shape)}`, () => {
    const { select } = recordSql(projection, shape);
    const { rows, order, joins } = listSql(projection, shape);
    return template(
      `SELECT c.total, p.record, p.key, p.id FROM (SELECT (${totalSql(projection, shape)})::text AS total) c
LEFT JOIN LATERAL (SELECT ${select} AS record, ${sortKeySql(shape)} AS key, t.id::text AS id FROM ${rows}
${joins(select)}
ORDER BY ${order}) p ON true`,
      { prepared: true },
    );
  });
}

/** The same page without its records: planned for its values at every run, which is quick because it is small. */
export function keysTemplate(projection: Projection, shape: ListShape): Template {
  return kept(`keys|${shapeKey(projection, shape)}`, () => {
    if (shape.total !== 'counted' || !isFoundFirst(shape))
      return template(keysSql(projection, shape, totalSql(projection, shape)), { prepared: false });
    return template(foundSql(projection, shape), { prepared: false });
  });
}

/**
 * Whether to find the rows is most of what a page costs: those with a text, those that few of many are seen of, and those of a while, which stand together
 * among the ids, so that to walk along these would be to pass by all that was before.
 */
export const isFoundFirst = ({ conditions }: Pick<ListShape, 'conditions'>): boolean =>
  conditions.some(
    (condition) =>
      isRare(condition) ||
      condition.includes('{fulltext}') ||
      /\bt\.(created|ended)_at [<>]/.test(condition),
  );

function keysSql(projection: Projection, shape: ListShape, total: string): string {
  const { rows, order } = listSql(projection, shape);
  const page = `SELECT ${sortKeySql(shape)} AS key, t.id::text AS id FROM ${rows} ORDER BY ${order}`;
  return `SELECT c.total, p.key, p.id FROM (SELECT (${total})::text AS total) c LEFT JOIN LATERAL (${page}) p ON true`;
}

/** The rows are found once, for the count and for the page. */
function foundSql(projection: Projection, shape: ListShape): string {
  const found = `WITH found AS MATERIALIZED (SELECT t.id FROM ${matching(projection, shape.conditions)})`;
  const { sort, descending, limit, offset, after } = shape;
  if (sort !== 'id')
    return `${found} ${keysSql(projection, { ...shape, conditions: ['t.id IN (SELECT id FROM found)'] }, 'SELECT count(*) FROM found')}`;
  const page = `SELECT t.id FROM found t ${after ? `WHERE ${keyset(shape)}` : ''} ORDER BY t.id ${descending ? 'DESC' : 'ASC'} ${limit === undefined ? '' : `LIMIT ${limit}${offset ? ` OFFSET ${offset}` : ''}`}`;
  return `${found} SELECT c.total, NULL AS key, p.id::text AS id FROM (SELECT count(*)::text AS total FROM found) c LEFT JOIN LATERAL (${page}) p ON true`;
}

/** A statement that answers the records of `ids`, in that order. */
export function recordsTemplate(projection: Projection, selection: Selection): Template {
  return kept(`records|${shapeOf(projection, selection)}`, () => {
    const { select, joins } = recordSql(projection, selection);
    const rows = `(SELECT t.*, k.n FROM unnest({ids}::bigint[]) WITH ORDINALITY AS k(id, n) JOIN ${projection.plural} t ON t.company_id = {company_id} AND t.id = k.id) t`;
    return template(
      `SELECT ${select} AS record, t.id::text AS id FROM ${rows}\n${joins}\nORDER BY t.n`,
      { prepared: true },
    );
  });
}

function totalSql(projection: Projection, { total, conditions }: ListShape): string {
  if (total === 'none') return 'NULL';
  return total === 'counted'
    ? `SELECT count(*) FROM ${matching(projection, conditions)}`
    : total.sql;
}

/** SQL of a count that is kept with each write, in slots. */
export const cachedCount = (resource: string): string =>
  `(SELECT coalesce(sum(n), 0) FROM record_counts WHERE company_id = {company_id} AND resource = '${resource}')`;

/** The living rows of the company that meet the conditions, as they stand behind FROM. */
function matching(projection: Projection, conditions: readonly string[]): string {
  const where = [...living(projection), ...conditions].join(' AND ');
  return `${projection.plural} t ${joinsFor(projection, where)} WHERE ${where}`;
}

/** A statement that answers the whole list, one SQL column a contract column, for COPY. */
export function csvTemplate(projection: Projection, shape: ListShape): Template {
  const fields = chosen(projection, shape);
  const { rows, order, joins } = listSql(projection, shape);
  const cells = fields.map(
    (field) => `${csvCell(field, expression(projection, field, shape))} AS "${field.name}"`,
  );
  const select = cells.join(',\n');
  return template(`SELECT ${select} FROM ${rows}\n${joins(select)}\nORDER BY ${order}`, {
    prepared: false,
  });
}

/** A text cell that a spreadsheet would run as a formula gets an apostrophe; numbers and telephone numbers do not. */
export function safeCell(sql: string): string {
  return `CASE WHEN (${sql}) ~ '^[=+\\-@|\\t\\r\\n]' AND (${sql}) !~ '^(-?[0-9]+(\\.[0-9]+)?|\\+[0-9]{7,15})$' THEN '''' || (${sql}) ELSE (${sql}) END`;
}

function csvCell({ schema }: Field, sql: string): string {
  const { types, formats } = facets(schema);
  if (types.has('array') || types.has('object')) return `to_json(${sql})::text`;
  if (types.has('boolean')) return `(${sql})::text`;
  if (!types.has('string') || formats.has('date-time') || formats.has('uuid')) return sql;
  return safeCell(sql);
}

/** The expressions every record has in common. */
export function commonColumns(path: string) {
  const route = `'/api/v1/${path}/' || t.id`;
  return {
    id: true,
    legacy_id: 't.id',
    uuid: true,
    created_at: true,
    updated_at: true,
    deleted_at: true,
    user_updated_at: true,
    routes_show_path: route,
    routes_edit_path: route,
    external_record_id: true,
    company_id: true,
  } as const satisfies Record<string, Column>;
}
