import { facets } from '../../platform/contract/contract';
import { maskColumn } from '../access/scope';
import { buildMoneyCondition, buildMoneyJoin, MONEY_ALIAS } from '../access/money';
import { listFields, type Column, type Field, type Projection, type Selection } from './projection';
import { TIMESTAMP_FORMAT } from '../sql';
import type { Template } from '../statement';

// SQL of the columns of a projection, used by src/data/projection/record-statements.ts and
// src/data/projection/list-statements.ts.

export function selectedFields(
  projection: Projection,
  { columns, grid = false, external = false }: Selection,
): Field[] {
  const selectedNames = columns && new Set(columns);
  const fields = listFields(projection).filter((field) => !external || field.external);
  return fields.filter(({ name, grid: onlyGrid, on_request }) =>
    selectedNames ? selectedNames.has(name) : !on_request && (grid || !onlyGrid),
  );
}

function columnSql(projection: Projection, name: string): string {
  const column = (projection.columns as Record<string, Column>)[name];
  if (column === undefined) throw new Error(`projection ${projection.schema} lacks ${name}`);
  return column === true ? `t.${name}` : column;
}

const maskedSql = (projection: Projection, name: string): string =>
  maskColumn(name, projection.limited?.[name] ?? columnSql(projection, name), (otherName) =>
    otherName in projection.columns ? columnSql(projection, otherName) : undefined,
  );

/** SQL of a column as it is answered: times as ISO 8601 text. */
export function fieldSql(
  projection: Projection,
  { name, schema, sensitive, moneyVisibility }: Field,
  { zone, limited, by_token }: Selection,
): string {
  if (by_token && sensitive) return projection.sentColumns?.[name] ?? 'NULL';
  const valueSql = limited ? maskedSql(projection, name) : columnSql(projection, name);
  const sql =
    limited && moneyVisibility
      ? `CASE WHEN ${buildMoneyCondition(moneyVisibility)} THEN ${valueSql} END`
      : valueSql;
  if (!facets(schema).formats.has('date-time')) return sql;
  return zone ? `iso_local(${sql}, {zone})` : `to_char(${sql}, ${TIMESTAMP_FORMAT.text})`;
}

const usesAlias = (sql: string, alias: string) => new RegExp(String.raw`\b${alias}\.`).test(sql);

/** The joins that the SQL needs, with the joins that these need in turn. */
export function selectJoins(projection: Projection, sql: string): string {
  const all = Object.entries(projection.joins ?? {});
  const needed = new Set<string>();
  for (const [alias, join] of all.toReversed()) {
    const text = sql + [...needed].map((name) => projection.joins?.[name]).join(' ');
    if (usesAlias(text, alias) && join) needed.add(alias);
  }
  const joins = all.filter(([alias]) => needed.has(alias)).map(([, join]) => join);
  return [
    ...joins,
    ...(usesAlias(sql, MONEY_ALIAS) ? [buildMoneyJoin(projection.plural)] : []),
  ].join('\n');
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
  return { select, joins: selectJoins(projection, select) };
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
  const isFormula = String.raw`(${sql}) ~ '${CELL_BEGINS}${FORMULA_SIGNS}|^[\t\r\n]'`;
  const isNumber = String.raw`(${sql}) ~ '^(-?[0-9]+(\.[0-9]+)?|\+[0-9]{7,15})$'`;
  const escaped = String.raw`regexp_replace(
    ${sql}, '^(?=[\t\r\n])|${CELL_BEGINS}(?=${FORMULA_SIGNS})', '\1''', 'g')`;
  return `CASE WHEN ${isFormula} AND NOT ${isNumber} THEN ${escaped} ELSE (${sql}) END`;
}

const MAX_TEMPLATES = 5_000;
/** Templates by key; the most recently used is last. */
const templates = new Map<string, Template>();

/**
 * Compiles a template once per key. Keys come from request parameters, so their number is limited.
 */
export function cacheTemplate(key: string, make: () => Template): Template {
  const cachedTemplate = templates.get(key) ?? make();
  templates.delete(key);
  templates.set(key, cachedTemplate);
  if (templates.size > MAX_TEMPLATES) templates.delete(templates.keys().next().value!);
  return cachedTemplate;
}

/** Distinguishes the SQL of one selection from another, for `cacheTemplate`. */
export const selectionKey = (
  projection: Projection,
  { columns, grid, external, limited, by_token, zone }: Selection,
): string => {
  const flags = [grid && 'g', external && 'e', limited && 'l', by_token && 't', zone && 'z'];
  return [projection.schema, columns?.join() ?? '*', ...flags.map((flag) => flag || '')].join('|');
};
