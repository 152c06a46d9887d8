import type { Projection, Selection } from './projection';
import { cached, recordSql, selectionKey } from './projection-sql';
import { countRoutingChanges } from './queries/routing-changes';
import { ROUTING_TABLES } from './routing-changes';
import { SqlText } from './sql';
import { template, type Template } from './statement';
import { changedSql, insertEntry, newSql, touchedFields } from './write-log';

// A write of one record as one prepared statement, compiled from the resource's projection and the
// columns that are written: it takes the row if nobody else has it, compares the checksum, writes,
// counts, logs what changed, and returns the record as JSON. One exchange with the database instead
// of eight, and no lock is held between two.
//
// A statement sees the database as it was at its beginning, and would see an outdated state after
// it had waited for a row. So it takes the row only if that is free and still as it was at the
// beginning; otherwise it changes nothing and returns no row. Then, and whenever there is something
// to refuse, the caller does the same work in a transaction, which waits and says what is wrong. An
// update that would change nothing fails (write-log.ts).

/** A row of another table that is written together with the record. */
export interface Part {
  /** The join of the projection that shows it. */
  alias: string;
  table: string;
  /** The column with the id of the record. */
  owner: string;
  /** Its columns; their parameters begin with the alias: `l_zone`. */
  columns: readonly string[];
  /** Further columns, as SQL over its row as it was, which has the alias. */
  computed?: Readonly<Record<string, string>>;
}

/** What is written of a record. */
export interface RecordWrite {
  /** Columns of the record's own row; their parameters begin with `row`: `row_name`. */
  columns: readonly string[];
  /** Further columns, as SQL over the row t as it was. */
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
 * A statement that updates or inserts one record and returns it as JSON text in the column
 * `record`; no row if it did nothing. Its parameters are company_id, now, those of the columns,
 * `id` or `uuid` of an update, `if_match` of a guarded one, and with a log the `entry_*` of
 * `insertEntry`.
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
  const own = [columns.join(), Object.entries(computed).join()];
  const others = parts.map((part) => [
    part.table,
    part.columns.join(),
    Object.entries(part.computed ?? {}).join(),
  ]);
  const flags = [guarded && 'guarded', compared && 'logged'].map((flag) => flag || '');
  return [
    'write',
    key,
    ...flags,
    ...own,
    ...others.flat(),
    selectionKey(projection, selection),
  ].join('|');
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
SET ${assignments('row', shape)}
FROM ${guarded ? 'old' : 'free'} t
WHERE w.company_id = t.company_id AND w.id = t.id
RETURNING w.*`,
    ],
    ...(shape.parts ?? []).map((part): Cte => [
      `written_${part.alias} AS`,
      `UPDATE ${part.table} ${part.alias}
SET ${assignments(part.alias, part)}
FROM written t
WHERE ${part.alias}.company_id = t.company_id AND ${part.alias}.${part.owner} = t.id
RETURNING ${part.alias}.*`,
    ]),
    ...endOf(projection, shape),
  ]);
}

function insertSql(projection: Projection, shape: WriteShape): string {
  const table = projection.plural;
  return withAll([
    [
      'written AS',
      `INSERT INTO ${table} (company_id, ${shape.columns.join(', ')})
VALUES (${['{company_id}', ...parameters('row', shape.columns)].join(', ')})
RETURNING *`,
    ],
    ...(shape.parts ?? []).map((part): Cte => [
      `written_${part.alias} AS`,
      `INSERT INTO ${part.table} (company_id, ${[part.owner, ...part.columns].join(', ')})
SELECT ${['t.company_id', 't.id', ...parameters(part.alias, part.columns)].join(', ')}
FROM written t
RETURNING *`,
    ]),
    ...endOf(projection, shape),
  ]);
}

/** Name and SQL of a CTE. */
type Cte = readonly [name: string, sql: string];

function withAll(ctes: readonly (Cte | false)[]): string {
  const all = ctes.flatMap((cte) => (cte ? `${cte[0]} (\n${cte[1]}\n)` : []));
  return `WITH ${all.join(',\n')}\nSELECT record FROM answer`;
}

/** What follows the writes of both kinds: the record in the answer, the log, the counts. */
function endOf(projection: Projection, shape: WriteShape): Cte[] {
  const { key, compared, selection, guarded } = shape;
  const after = afterWrite(projection, shape);
  const { select, joins } = recordSql(after, selection);
  const answer: Cte = [
    'answer AS MATERIALIZED',
    `SELECT ${select} AS record FROM written t\n${joins}`,
  ];
  const changes = () =>
    key
      ? changedSql(touchedFields(projection, shape, compared!), {
          before: { projection, rows: guarded ? 'old' : 'free' },
          after: { projection: after, rows: 'written' },
        })
      : newSql(compared!);
  const logged: Cte[] = compared ? [['logged AS', insertEntry(changes(), !key)]] : [];
  // In the order in which the counts are moved where this takes several statements.
  const counted = [...(key ? [] : [projection.plural]), ...(compared ? ['change_logs'] : [])];
  return [
    answer,
    ...routingChanged(projection, shape),
    ...logged,
    ...(counted.length > 0 ? [['counted AS', countSql(counted)] satisfies Cte] : []),
  ];
}

/**
 * Counts a change of what calls are routed by. Of writes that nothing reads PostgreSQL runs the
 * first one last: transactions, too, lock this row after those of the counts.
 */
function routingChanged({ plural }: Projection, { parts = [] }: WriteShape): Cte[] {
  const tables = [plural, ...parts.map(({ table }) => table)];
  return tables.some((table) => ROUTING_TABLES.has(table))
    ? [['changed AS', countRoutingChanges(new SqlText('written')).text]]
    : [];
}

const countSql = (resources: readonly string[]): string =>
  `INSERT INTO record_counts (company_id, resource, slot, n)
SELECT t.company_id, c.resource, pg_backend_pid() % 64, 1
FROM written t, (VALUES ${resources.map((name, n) => `('${name}', ${n})`).join(', ')}) c(resource, n)
ORDER BY c.n
ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n`;

const parameters = (prefix: string, columns: readonly string[]): string[] =>
  columns.map((column) => `{${prefix}_${column}}`);

const assignments = (
  prefix: string,
  { columns, computed = {} }: Pick<RecordWrite, 'columns' | 'computed'>,
) =>
  [
    ...columns.map((column) => `${column} = {${prefix}_${column}}`),
    ...Object.entries(computed).map(([column, sql]) => `${column} = ${sql}`),
  ].join(',\n  ');

/** The projection over what was just written, which the tables do not show to this statement. */
function afterWrite(projection: Projection, { parts = [] }: RecordWrite): Projection {
  const written = parts.map(({ alias }) => [alias, `LEFT JOIN written_${alias} ${alias} ON true`]);
  const after = {
    ...projection,
    joins: { ...projection.joins, ...(Object.fromEntries(written) as Record<string, string>) },
  };
  const { select, joins } = recordSql(after, { grid: true });
  const tables = [projection.plural, ...parts.map(({ table }) => table)];
  const read = tables.find((table) =>
    new RegExp(String.raw`\b(?:FROM|JOIN) ${table}\b`).test(select + joins),
  );
  if (read !== undefined)
    throw new Error(
      `${projection.schema} reads ${read} while it is written: it would see old rows`,
    );
  return after;
}
