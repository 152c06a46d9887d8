import { sql, SqlText } from '../../../data/sql';
import type { OwnedTable } from '../ownership';

// Statements over the rows of a table that is known by name. They lock rows in the order of the
// primary key before they write them.

export const joinSql = (parts: readonly string[], separator: string): SqlText =>
  new SqlText(parts.join(separator));

/** True for calls: their counts and events depend on every row, and a function records them. */
export const isRecorded = (table: string): boolean => table === 'calls';

interface RowsOptions {
  table: OwnedTable;
  where: SqlText;
  /** Lists `column = value`; absent to delete the rows. */
  set?: string;
  /** A condition of rows that the list of the table counts, as they were. */
  counted?: string;
  limit?: SqlText;
}

/**
 * Updates or deletes rows of a company, a table whose alias is `t`. Returns a row for each, with
 * `was_counted`.
 */
export function writeRows({
  table: { name, key },
  where,
  set,
  counted = 'false',
  limit = sql``,
}: RowsOptions): SqlText {
  const table = new SqlText(name);
  const keys = joinSql(
    key.map((column) => `t.${column}`),
    ', ',
  );
  const isLocked = joinSql(
    key.map((column) => `t.${column} = l.${column}`),
    ' AND ',
  );
  const recorded = set ? 'record_call_change(w.was, w.now)' : 'record_deleted_call(w.was)';
  const records = (text: string) => new SqlText(isRecorded(name) ? text : '');
  const locked = sql`
    SELECT ${keys}, ${new SqlText(counted)} AS was_counted${records(', t AS was')}
    FROM ${table} t
    WHERE t.company_id = {company_id} AND (${where})
    ORDER BY ${keys}
    ${limit}
    ${set ? sql`FOR NO KEY UPDATE` : sql`FOR UPDATE`}`;
  const write = set
    ? sql`UPDATE ${table} t SET ${new SqlText(set)} FROM locked l`
    : sql`DELETE FROM ${table} t USING locked l`;
  return sql`
    WITH locked AS (${locked}),
    written AS (
      ${write}
      WHERE t.company_id = {company_id} AND ${isLocked}
      RETURNING l.was_counted${records(set ? ', l.was, t AS now' : ', l.was')}
    )
    SELECT w.was_counted${records(`, ${recorded} AS is_recorded`)} FROM written w`;
}
