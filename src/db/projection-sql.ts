import { facets } from '../contract';
import { masked, sideCondition, sidesJoin, SIDES_ALIAS } from './access-scope';
import { fieldsOf, type Column, type Field, type Projection, type Selection } from './projection';
import type { Template } from './statement';

// SQL of the columns of a projection, used by src/db/record-statements.ts and
// src/db/list-statements.ts.

export function selectedFields(
  projection: Projection,
  { columns, grid = false, external = false }: Selection,
): Field[] {
  const wanted = columns && new Set(columns);
  const fields = fieldsOf(projection).filter((field) => !external || field.external);
  return fields.filter(({ name, grid: only_grid }) =>
    wanted ? wanted.has(name) : grid || !only_grid,
  );
}

function columnSql(projection: Projection, name: string): string {
  const column = (projection.columns as Record<string, Column>)[name];
  if (column === undefined) throw new Error(`projection ${projection.schema} lacks ${name}`);
  return column === true ? `t.${name}` : column;
}

const maskedSql = (projection: Projection, name: string): string =>
  masked(name, projection.limited?.[name] ?? columnSql(projection, name), (other) =>
    other in projection.columns ? columnSql(projection, other) : undefined,
  );

/** SQL of a column as it is answered: times as ISO 8601 text. */
export function fieldSql(
  projection: Projection,
  { name, schema, sensitive, side }: Field,
  { zone, limited, by_token }: Selection,
): string {
  if (by_token && sensitive) return projection.sent?.[name] ?? 'NULL';
  const own = limited ? maskedSql(projection, name) : columnSql(projection, name);
  const sql = limited && side ? `CASE WHEN ${sideCondition(side)} THEN ${own} END` : own;
  if (!facets(schema).formats.has('date-time')) return sql;
  return zone
    ? `iso_local(${sql}, {zone})`
    : `to_char(${sql}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"')`;
}

const uses = (sql: string, alias: string) => new RegExp(String.raw`\b${alias}\.`).test(sql);

/** The joins that the SQL needs, with the joins that these need in turn. */
export function joinsFor(projection: Projection, sql: string): string {
  const all = Object.entries(projection.joins ?? {});
  const needed = new Set<string>();
  for (const [alias, join] of all.toReversed()) {
    const text = sql + [...needed].map((name) => projection.joins?.[name]).join(' ');
    if (uses(text, alias) && join) needed.add(alias);
  }
  const joins = all.filter(([alias]) => needed.has(alias)).map(([, join]) => join);
  return [...joins, ...(uses(sql, SIDES_ALIAS) ? [sidesJoin(projection.plural)] : [])].join('\n');
}

/** SQL of a whole record over the row t as JSON text, and the joins that it needs. */
export function recordSql(
  projection: Projection,
  selection: Selection,
): { select: string; joins: string } {
  const columns = selectedFields(projection, selection).map(
    (field) => `${fieldSql(projection, field, selection)} AS "${field.name}"`,
  );
  const select = `(SELECT row_to_json(r) FROM (SELECT ${columns.join(',\n')}) r)::text`;
  return { select, joins: joinsFor(projection, select) };
}

export function csvCell({ schema }: Field, sql: string): string {
  const { types, formats } = facets(schema);
  if (types.has('array') || types.has('object')) return safeCell(`to_json(${sql})::text`);
  if (types.has('boolean')) return `(${sql})::text`;
  if (!types.has('string') || formats.has('date-time') || formats.has('uuid')) return sql;
  return safeCell(sql);
}

/** Characters that spreadsheets take for the start of a formula, also as full-width signs. */
const FORMULA_SIGNS = '[=+\\-@|＝＋－＠]';
/**
 * Positions where a spreadsheet may start a cell: some treat a semicolon or a tab as a separator,
 * even inside quotes, and then a line break too.
 */
const CELL_BEGINS = '(^|[;\\t\\r\\n])';

/**
 * SQL of a text cell that no spreadsheet runs as a formula: a formula gets an apostrophe in front;
 * numbers and telephone numbers do not.
 */
export function safeCell(sql: string): string {
  const is_formula = String.raw`(${sql}) ~ '${CELL_BEGINS}${FORMULA_SIGNS}|^[\t\r\n]'`;
  const is_number = String.raw`(${sql}) ~ '^(-?[0-9]+(\.[0-9]+)?|\+[0-9]{7,15})$'`;
  const escaped = String.raw`regexp_replace(
    ${sql}, '^(?=[\t\r\n])|${CELL_BEGINS}(?=${FORMULA_SIGNS})', '\1''', 'g')`;
  return `CASE WHEN ${is_formula} AND NOT ${is_number} THEN ${escaped} ELSE (${sql}) END`;
}

const MAX_TEMPLATES = 5_000;
/** Templates by key; the most recently used is last. */
const templates = new Map<string, Template>();

/**
 * Compiles a template once per key. Keys come from request parameters, so their number is limited.
 */
export function cached(key: string, make: () => Template): Template {
  const found = templates.get(key) ?? make();
  templates.delete(key);
  templates.set(key, found);
  if (templates.size > MAX_TEMPLATES) templates.delete(templates.keys().next().value!);
  return found;
}

/** Distinguishes the SQL of one selection from another, for `cacheTemplate`. */
export const selectionKey = (
  projection: Projection,
  { columns, grid, external, limited, by_token, zone }: Selection,
): string => {
  const flags = [grid && 'g', external && 'e', limited && 'l', by_token && 't', zone && 'z'];
  return [projection.schema, columns?.join() ?? '*', ...flags.map((flag) => flag || '')].join('|');
};
