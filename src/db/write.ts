import type { Field, Projection, Selection } from './projection';
import { cached, fieldSql, joinsFor, recordSql, selectedFields, selectionKey } from './projection-sql';
import { template, type Template } from './statement';

// A write of one record as one prepared statement, compiled from the resource's projection and the
// columns that are written: it takes the row if nobody else has it, compares the checksum, writes,
// counts, logs what changed, and returns the record as JSON. One exchange with the database instead
// of eight, and no lock is held between two.
//
// A statement sees the database as it was at its beginning, and would see an outdated state after it
// had waited for a row. So it takes the row only if that is free and still as it was at the
// beginning; otherwise it changes nothing and returns no row. Then, and whenever there is something
// to refuse, the caller does the same work in a transaction, which waits and says what is wrong.

/** A row of another table that is written together with the record. */
export interface Part {
  /** The join of the projection that shows it. */
  alias: string;
  /** Its table; the parameter of that name has its columns as JSON. */
  table: string;
  /** The column with the id of the record. */
  owner: string;
  columns: readonly string[];
  /** Further columns, as SQL over its row as it was, which has the alias. */
  computed?: Readonly<Record<string, string>>;
}

/** What is written of a record. */
export interface RecordWrite {
  /** Columns of the record's own row; the parameter `row` has them as JSON. */
  columns: readonly string[];
  /** Further columns, as SQL over the row t as it was and the row f of the parameter. */
  computed?: Readonly<Record<string, string>>;
  parts?: readonly Part[];
}

export interface WriteShape extends RecordWrite {
  /** How the row to update is named; a new row is inserted where this is absent. */
  key?: 'id' | 'uuid';
  /** Whether the checksum of the record must be that of the parameter `if_match`. */
  guarded?: boolean;
  /** The columns that the change log compares; absent where nothing is logged. */
  compared?: readonly string[] | undefined;
  selection: Selection;
}

/**
 * The columns among `compared` whose value depends on what is written. Every SQL of a projection
 * names columns with their alias, so that its text says what it depends on.
 */
export function touchedFields(
  projection: Projection,
  { columns, computed = {}, parts = [] }: RecordWrite,
  compared: readonly string[],
): Field[] {
  const own = [...columns, ...Object.keys(computed)].map((column) => `t\\.${column}`);
  const others = parts.flatMap(({ alias, columns: of_part, computed: more = {} }) =>
    [...of_part, ...Object.keys(more)].map((column) => `${alias}\\.${column}`),
  );
  const written = new RegExp(`\\b(?:${[...own, ...others].join('|')})\\b`);
  return selectedFields(projection, { columns: compared }).filter((field) => {
    const sql = fieldSql(projection, field, {});
    return written.test(`${sql} ${joinsFor(projection, sql)}`);
  });
}

/**
 * A statement that updates or inserts one record and returns it as JSON text in the column `record`;
 * no row if it did nothing. Its parameters are company_id, now, `row`, one for each part, `id` or
 * `uuid` of an update, `if_match` of a guarded one, and with a log those of `LOGGED`.
 */
export function writeTemplate(projection: Projection, shape: WriteShape): Template {
  return cached(keyOf(projection, shape), () =>
    template(shape.key ? updateSql(projection, shape) : insertSql(projection, shape), {
      prepared: true,
    }),
  );
}

function keyOf(projection: Projection, { selection, ...shape }: WriteShape): string {
  const { key = 'new', guarded, compared, columns, computed = {}, parts = [] } = shape;
  const own = [columns.join(), Object.keys(computed).join()];
  const others = parts.map((part) => [
    part.table,
    part.columns.join(),
    Object.keys(part.computed ?? {}).join(),
  ]);
  const flags = [guarded && 'guarded', compared && 'logged'].map((flag) => flag || '');
  return ['write', key, ...flags, ...own, ...others.flat(), selectionKey(projection, selection)].join(
    '|',
  );
}

function updateSql(projection: Projection, shape: WriteShape): string {
  const { key, guarded, selection } = shape;
  const table = projection.plural;
  const value = key === 'id' ? '{id}::bigint' : '{uuid}::uuid';
  const condition = (alias: string) =>
    `${alias}.company_id = {company_id} AND ${alias}.${key} = ${value}`;
  const known = recordSql(projection, selection);
  return withAll([
    [
      'free AS MATERIALIZED',
      `SELECT t.*
FROM ${table} t
WHERE ${condition('t')} AND t.deleted_at IS NULL
  AND t.ctid = (SELECT seen.ctid FROM ${table} seen WHERE ${condition('seen')})
FOR NO KEY UPDATE SKIP LOCKED`,
    ],
    guarded === true && [
      'old AS MATERIALIZED',
      `SELECT t.* FROM free t
${known.joins}
WHERE md5(${known.select}) = {if_match}`,
    ],
    [
      'written AS',
      `UPDATE ${table} w
SET ${assignments(shape)}
FROM ${guarded ? 'old' : 'free'} t, ${given(table, 'row')}
WHERE w.company_id = t.company_id AND w.id = t.id
RETURNING w.*`,
    ],
    ...(shape.parts ?? []).map((part): Cte => [
      `written_${part.alias} AS`,
      `UPDATE ${part.table} ${part.alias}
SET ${assignments(part)}
FROM written t, ${given(part.table, part.table)}
WHERE ${part.alias}.company_id = t.company_id AND ${part.alias}.${part.owner} = t.id
RETURNING ${part.alias}.*`,
    ]),
    ...logCtes(projection, shape),
    recordCte(projection, shape),
  ]);
}

function insertSql(projection: Projection, shape: WriteShape): string {
  const table = projection.plural;
  return withAll([
    [
      'written AS',
      `INSERT INTO ${table} (company_id, ${shape.columns.join(', ')})
SELECT {company_id}, ${shape.columns.map((column) => `f.${column}`).join(', ')}
FROM ${given(table, 'row')}
RETURNING *`,
    ],
    ...(shape.parts ?? []).map((part): Cte => [
      `written_${part.alias} AS`,
      `INSERT INTO ${part.table} (company_id, ${[part.owner, ...part.columns].join(', ')})
SELECT ${['t.company_id', 't.id', ...part.columns.map((column) => `f.${column}`)].join(', ')}
FROM written t, ${given(part.table, part.table)}
RETURNING *`,
    ]),
    ...logCtes(projection, shape),
    recordCte(projection, shape),
  ]);
}

/** Name and SQL of a CTE; the last one is the statement itself, without a name. */
type Cte = readonly [name: string, sql: string];

function withAll(ctes: readonly (Cte | false)[]): string {
  const all = ctes.filter((cte) => cte !== false);
  const [, answer] = all.at(-1)!;
  const before = all.slice(0, -1).map(([name, sql]) => `${name} (\n${sql}\n)`);
  return `WITH ${before.join(',\n')}\n${answer}`;
}

/** The columns of a JSON parameter as a row of a table. */
const given = (table: string, parameter: string): string =>
  `jsonb_populate_record(NULL::${table}, {${parameter}}::jsonb) f`;

const assignments = ({ columns, computed = {} }: Pick<RecordWrite, 'columns' | 'computed'>) =>
  [
    ...columns.map((column) => `${column} = f.${column}`),
    ...Object.entries(computed).map(([column, sql]) => `${column} = ${sql}`),
  ].join(',\n  ');

/** The projection over what was just written, which the tables do not show to this statement. */
const afterWrite = (projection: Projection, { parts = [] }: RecordWrite): Projection => ({
  ...projection,
  joins: {
    ...projection.joins,
    ...Object.fromEntries(
      parts.map(({ alias }) => [alias, `LEFT JOIN written_${alias} ${alias} ON true`]),
    ),
  },
});

function recordCte(projection: Projection, shape: WriteShape): Cte {
  const { select, joins } = recordSql(afterWrite(projection, shape), shape.selection);
  return ['', `SELECT ${select} AS record FROM written t\n${joins}`];
}

/** Columns of the entry that are parameters of the same names, and their types. */
const LOGGED = {
  uuid: 'uuid',
  created_at: 'timestamptz',
  record_type: 'text',
  action: 'text',
  operation: 'text',
  user_id: 'bigint',
  user_email: 'text',
  access_token_id: 'bigint',
  credentials: 'text',
  request_id: 'text',
  client_request_id: 'text',
  ip: 'text',
} as const;

/** The entry of the change log, and the counts of what was inserted. */
function logCtes(projection: Projection, shape: WriteShape): Cte[] {
  const { key, compared } = shape;
  const counted = [...(key ? [] : [projection.plural]), ...(compared ? ['change_logs'] : [])];
  if (counted.length === 0) return [];
  // In the order in which the counts are moved where this takes several statements.
  const resources = counted.map((resource, n) => `('${resource}', ${n})`).join(', ');
  const counts: Cte = [
    'counted AS',
    `INSERT INTO record_counts (company_id, resource, slot, n)
SELECT t.company_id, c.resource, pg_backend_pid() % 64, 1
FROM written t, (VALUES ${resources}) c(resource, n)
ORDER BY c.n
ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n`,
  ];
  if (!compared) return [counts];
  const columns = Object.keys(LOGGED);
  const values = Object.entries(LOGGED).map(([name, type]) => `{entry_${name}}::${type}`);
  const { before, after, changes } = changesSql(projection, shape, compared);
  const logged: Cte = [
    'logged AS',
    `INSERT INTO change_logs (company_id, record_id, changes, ${columns.join(', ')})
SELECT a.company_id, a.id, ${changes}::json, ${values.join(', ')}
FROM ${after}${before}`,
  ];
  return [logged, counts];
}

/** SQL of the columns that changed as JSON, and the rows `a` and `b` with them after and before. */
function changesSql(projection: Projection, shape: WriteShape, compared: readonly string[]) {
  const fields = shape.key
    ? touchedFields(projection, shape, compared)
    : selectedFields(projection, { columns: compared });
  const rowOf = (of: Projection, from: string, more = '') => {
    const columns = fields.map((field, n) => `${jsonOf(fieldSql(of, field, {}))} AS c${n}`);
    const joins = joinsFor(of, columns.join());
    // OFFSET 0: otherwise each expression is computed wherever its column is used.
    return `(
SELECT ${[more, ...columns].filter(Boolean).join(',\n')}
FROM ${from} t
${joins}
OFFSET 0)`;
  };
  const old = shape.guarded ? 'old' : 'free';
  const entries = fields.map(({ name }, n) => {
    const from = shape.key ? `b.c${n}` : `'null'`;
    const is_changed = shape.key
      ? `a.c${n} <> b.c${n}`
      : `a.c${n} NOT IN ('null', '[]', '{}')`;
    return `CASE WHEN ${is_changed}
  THEN '"${name}":{"from":' || ${from} || ',"to":' || a.c${n} || '}' END`;
  });
  return {
    after: `${rowOf(afterWrite(projection, shape), 'written', 't.company_id, t.id')} a`,
    before: shape.key && fields.length > 0 ? `,\n${rowOf(projection, old)} b` : '',
    changes: `'{' || concat_ws(',', ${[...entries, '{entry_requested}::text'].join(',\n')}) || '}'`,
  };
}

/** SQL of a column's JSON text. The type of a literal must be said. */
const jsonOf = (sql: string) =>
  `coalesce(to_json(${/^(?:'[^']*'|NULL)$/.test(sql) ? `${sql}::text` : sql})::text, 'null')`;
