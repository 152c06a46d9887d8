import type { Projection, Selection } from './projection';
import { cacheTemplate, recordSql, selectionKey } from './projection-sql';
import { countRoutingChanges } from '../queries/routing-changes';
import { ROUTING_TABLES } from '../routing-changes';
import { SqlText } from '../sql';
import { template, type Template } from '../statement';
import { changedSql, insertEntry, newSql, touchedFields } from './write-log';
import type { RecordWrite } from './write-log';

// A write of one record as one prepared statement, compiled from the resource's projection and the
// written columns: it takes the row if it is free, compares the checksum, writes, counts, logs the
// changes, and returns the record as JSON. This is one exchange with the database instead of eight,
// and no lock is held between two.
//
// A statement sees the database as it was at its start, and would see an outdated state after
// waiting for a row. So it takes the row only if the row is free and unchanged since the start;
// otherwise it changes nothing and returns no row. Then, and whenever something must be refused,
// the caller does the work in a transaction, which waits and reports the fault. An update without
// any change fails (src/data/projection/write-log.ts).

export interface WriteShape extends RecordWrite {
  /** Key of the row to update; absent to insert a new row. */
  key?: 'id' | 'uuid';
  /** Set if the checksum of the record must match the parameter `if_match`. */
  guarded?: boolean;
  /** The columns that the change log compares; absent if nothing is logged. */
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
  return cacheTemplate(buildCacheKey(projection, shape), () =>
    template(shape.key ? updateSql(projection, shape) : insertSql(projection, shape), {
      prepared: true,
    }),
  );
}

function buildCacheKey(projection: Projection, { selection, ...shape }: WriteShape): string {
  const { key = 'new', guarded, compared, columns, computed = {}, parts = [] } = shape;
  const rowKey = [columns.join(), Object.entries(computed).join()];
  const partKeys = parts.map((part) => [
    part.table,
    part.columns.join(),
    Object.entries(part.computed ?? {}).join(),
  ]);
  const flags = [guarded && 'guarded', compared && 'logged'].map((flag) => flag || '');
  return [
    'write',
    key,
    ...flags,
    ...rowKey,
    ...partKeys.flat(),
    selectionKey(projection, selection),
  ].join('|');
}

function updateSql(projection: Projection, shape: WriteShape): string {
  const { key, guarded, selection } = shape;
  const table = projection.plural;
  const value = key === 'id' ? '{id}::bigint' : '{uuid}::uuid';
  const condition = (alias: string) =>
    `${alias}.company_id = {company_id} AND ${alias}.${key} = ${value}`;
  const storedRecord = recordSql(projection, selection);
  return joinCtes([
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
${storedRecord.joins}
WHERE md5(${storedRecord.select}) = {if_match}`,
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
    ...buildFinalCtes(projection, shape),
  ]);
}

function insertSql(projection: Projection, shape: WriteShape): string {
  const table = projection.plural;
  return joinCtes([
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
    ...buildFinalCtes(projection, shape),
  ]);
}

/** Name and SQL of a CTE. */
type Cte = readonly [name: string, sql: string];

function joinCtes(ctes: readonly (Cte | false)[]): string {
  const all = ctes.flatMap((cte) => (cte ? `${cte[0]} (\n${cte[1]}\n)` : []));
  return `WITH ${all.join(',\n')}\nSELECT record FROM answer`;
}

/** CTEs after the writes of both kinds: the record in the answer, the log, the counts. */
function buildFinalCtes(projection: Projection, shape: WriteShape): Cte[] {
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
  // In the order in which transactions of several statements move the counts.
  const counted = [...(key ? [] : [projection.plural]), ...(compared ? ['change_logs'] : [])];
  return [
    answer,
    ...buildRoutingCtes(projection, shape),
    ...logged,
    ...(counted.length > 0 ? [['counted AS', countSql(counted)] satisfies Cte] : []),
  ];
}

/**
 * Counts a change of the routing configuration. PostgreSQL runs the first one last of the writes
 * that nothing reads; transactions also lock this row after those of the counts.
 */
function buildRoutingCtes({ plural }: Projection, { parts = [] }: WriteShape): Cte[] {
  const tables = [plural, ...parts.map(({ table }) => table)];
  return tables.some((table) => ROUTING_TABLES.has(table))
    ? [['changed AS', countRoutingChanges(new SqlText('written')).text]]
    : [];
}

const countSql = (resources: readonly string[]): string =>
  `INSERT INTO record_counts (company_id, resource, slot, n)
SELECT t.company_id, c.resource, pg_backend_pid() % 64, 1
FROM written t,
  (VALUES ${resources.map((name, n) => `('${name}', ${n})`).join(', ')}) c(resource, n)
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

/** The projection over the rows just written, which the tables do not show to this statement. */
function afterWrite(projection: Projection, { parts = [] }: RecordWrite): Projection {
  const writtenJoins = parts.map(({ alias }) => [
    alias,
    `LEFT JOIN written_${alias} ${alias} ON true`,
  ]);
  const after = {
    ...projection,
    joins: { ...projection.joins, ...(Object.fromEntries(writtenJoins) as Record<string, string>) },
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
