import type { Field, Projection } from './projection';
import { fieldSql, selectJoins, selectedFields } from './projection-sql';

/** A row of another table that is written together with the record. */
export interface Part {
  /** The join of the projection that shows it. */
  alias: string;
  table: string;
  /** The column with the id of the record. */
  owner: string;
  /** Columns to write; their parameters begin with the alias: `l_zone`. */
  columns: readonly string[];
  /** Further columns, as SQL over the old row, which has the alias. */
  computed?: Readonly<Record<string, string>>;
}

export interface RecordWrite {
  /** Columns of the record's own row; their parameters begin with `row`: `row_name`. */
  columns: readonly string[];
  /** Further columns, as SQL over the old row t. */
  computed?: Readonly<Record<string, string>>;
  parts?: readonly Part[];
}

// The entry of the change log, as part of the statement that writes the record
// (src/data/projection/write.ts).

/**
 * The columns among `compared` whose value depends on written columns. The SQL of a projection
 * always names columns with their alias, so its text shows the dependencies.
 */
export function touchedFields(
  projection: Projection,
  { columns, computed = {}, parts = [] }: RecordWrite,
  compared: readonly string[],
): Field[] {
  const rowColumns = [...columns, ...Object.keys(computed)].map(
    (column) => String.raw`t\.${column}`,
  );
  const partColumns = parts.flatMap(({ alias, columns: ofPart, computed: more = {} }) =>
    [...ofPart, ...Object.keys(more)].map((column) => String.raw`${alias}\.${column}`),
  );
  const writtenPattern = new RegExp(
    String.raw`\b(?:${[...rowColumns, ...partColumns].join('|')})\b`,
  );
  return selectedFields(projection, { columns: compared }).filter((field) => {
    const sql = fieldSql(projection, field, {});
    return writtenPattern.test(`${sql} ${selectJoins(projection, sql)}`);
  });
}

/** Columns of the entry that are parameters, such as `entry_uuid`, and their types. */
const PARAMETERS = {
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

/**
 * SQL of the changes of columns, without the braces of the JSON object, and the FROM items it uses.
 */
export interface ChangesSql {
  changes: string;
  from: string;
}

/** SQLSTATE of refuse_unchanged(). */
export const UNCHANGED = 'UN001';

/**
 * SQL that writes the entry of the record in the CTE `written`. The parameter `entry_requested` has
 * changes that no column shows, without the braces of the JSON object, or is null. An update
 * without any change fails with UNCHANGED.
 */
export function insertEntry({ changes, from }: ChangesSql, isNew: boolean): string {
  const all = `concat_ws(',', ${changes}, {entry_requested}::text)`;
  const entryChanges = isNew ? all : `coalesce(nullif(${all}, ''), refuse_unchanged())`;
  const values = Object.entries(PARAMETERS).map(([name, type]) => `{entry_${name}}::${type}`);
  return `INSERT INTO change_logs
  (company_id, record_id, changes, ${Object.keys(PARAMETERS).join(', ')})
SELECT w.company_id, w.id, ('{' || ${entryChanges} || '}')::json,
  ${values.join(', ')}
FROM written w${from}`;
}

/** The columns with a value in the new record of the CTE `answer`. */
export function newSql(compared: readonly string[]): ChangesSql {
  const names = compared.map((name) => `'${name}'`).join(', ');
  return {
    changes: `(
  SELECT string_agg('"' || e.key || '":{"from":null,"to":' || e.value || '}', ',')
  FROM json_each(answer.record::json) e
  WHERE e.key IN (${names}) AND e.value::text NOT IN ('null', '[]', '{}'))`,
    from: ', answer',
  };
}

interface RowVersion {
  projection: Projection;
  /** The CTE with the row of the record. */
  rows: string;
}

/** The fields that differ between two versions of a record. */
export function changedSql(
  fields: readonly Field[],
  { before, after }: { before: RowVersion; after: RowVersion },
): ChangesSql {
  if (fields.length === 0) return { changes: 'NULL', from: '' };
  const buildRow = ({ projection, rows }: RowVersion) => {
    const columns = fields.map(
      (field, n) => `${toJsonSql(fieldSql(projection, field, {}))} AS c${n}`,
    );
    const select = `SELECT ${columns.join(', ')}\nFROM ${rows} t\n`;
    // OFFSET 0: otherwise an expression is computed again for each use of its column.
    return `(${select}${selectJoins(projection, columns.join())}\nOFFSET 0)`;
  };
  const changes = fields.map(
    ({ name }, n) => `CASE WHEN a.c${n} <> b.c${n}
    THEN '"${name}":{"from":' || b.c${n} || ',"to":' || a.c${n} || '}' END`,
  );
  return { changes: changes.join(',\n  '), from: `, ${buildRow(before)} b, ${buildRow(after)} a` };
}

/** SQL of a column's JSON text. A literal needs an explicit type. */
const toJsonSql = (sql: string) =>
  `coalesce(to_json(${/^(?:'[^']*'|NULL)$/.test(sql) ? `${sql}::text` : sql})::text, 'null')`;
