import { sql, SqlText, statement, type Statement } from '../../../data/sql';
import { OWNERSHIP, type OwnedTable } from '../ownership';
import { isRecorded, joinSql, writeRows } from './rows';

// Erases rows about a person. Calls stay, as if the caller had withheld the number: money and
// reports depend on them. Leads, texts and e-mails stay as deleted ones without content.

export interface Erasure {
  table: OwnedTable;
  statement: Statement<'erasure.erase_text_messages', { was_counted: boolean }>;
}

/** The SET of a row about a person. */
export const emptyRow = ({ emptied, changed }: OwnedTable): string =>
  [...emptied, ...changed].map(({ column, value }) => `${column} = ${value}`).join(', ');

/** Rows that have something to erase: another run finds nothing, and counts nothing. */
function isFull({ emptied }: OwnedTable): SqlText {
  const list = (texts: string[]) => joinSql(texts, ', ');
  const stored = list(emptied.map(({ column }) => `t.${column}::text`));
  return sql`(${stored}) IS DISTINCT FROM (${list(emptied.map(({ value }) => `(${value})::text`))})`;
}

const LIMIT = sql`LIMIT {limit}::int`;
const IS_COUNTED = 't.deleted_at IS NULL';

function buildErasure(
  verb: 'delete' | 'erase',
  table: OwnedTable,
  { where, columns, set }: { where: SqlText; columns: readonly string[]; set?: string },
): Erasure {
  const { name, owners } = table;
  const isOwned = joinSql(
    owners.map((owner) => `(${owner.where})`),
    ' OR ',
  );
  const text = writeRows({
    table,
    where: sql`(${isOwned}) AND ${where}`,
    counted: columns.includes('deleted_at') ? IS_COUNTED : 'false',
    limit: LIMIT,
    ...(set && { set }),
  });
  const registered = statement(`erasure.${verb}_${name}` as 'erasure.erase_text_messages', text, {
    prepared: false,
    ...(isRecorded(name) && { records: true }),
  });
  return { table, statement: registered.returning<{ was_counted: boolean }>() };
}

const listNames = (columns: readonly { name: string }[]) => columns.map(({ name }) => name);

function buildErasures(table: OwnedTable): Erasure[] {
  const { owners, deletedRows, emptied, changed } = table;
  if (owners.length === 0) return [];
  const erasures: Erasure[] = [];
  if (deletedRows) {
    const where = new SqlText(deletedRows.where);
    erasures.push(buildErasure('delete', table, { where, columns: listNames(table.columns) }));
  }
  if (emptied.length > 0) {
    const columns = changed.map(({ column }) => column);
    const set = emptyRow(table);
    erasures.push(buildErasure('erase', table, { where: isFull(table), columns, set }));
  }
  return erasures;
}

/** Calls are locked before their parts; leads are last, as another run finds the rest by them. */
const LOCK_RANKS: Readonly<Record<string, number>> = { calls: -1, leads: 1 };
const rank = ({ table }: Erasure): number => LOCK_RANKS[table.name] ?? 0;

export const ERASURES: readonly Erasure[] = OWNERSHIP.flatMap(buildErasures).toSorted(
  (a, b) => rank(a) - rank(b),
);

const NUMBER_TABLES = OWNERSHIP.flatMap(({ name, owners, rules }) => {
  const number = owners.find(({ kind }) => kind === 'number');
  return number && rules.some(({ words }) => words.includes('no contact')) ? { name, number } : [];
});

/** Rows that name the person and stay, because they keep the person from being contacted. */
export const COUNT_KEPT = statement(
  'erasure.count_kept',
  sql`SELECT ${joinSql(
    NUMBER_TABLES.map(
      ({ name, number }) =>
        `(SELECT count(*)::int FROM ${name} t
          WHERE t.company_id = {company_id} AND ${number.where}) AS ${name}`,
    ),
    ', ',
  )}`,
  { prepared: false },
);
