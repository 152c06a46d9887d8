import { sql, SqlText, statement, type Statement } from '../../../data/sql';
import { OWNERSHIP, type OwnedTable } from '../ownership';
import { isRecorded, joinSql, writeRows } from './rows';

// Erases rows about a person. Calls stay, as if the caller had withheld the number: money and
// reports depend on them. Leads, texts and e-mails stay as deleted ones without content.

export interface Erasure {
  table: OwnedTable;
  statement: Statement<'erasure.erase_text_messages', { was_counted: boolean }>;
}

const hasDeletedAt = ({ columns }: OwnedTable): boolean =>
  columns.some(({ name }) => name === 'deleted_at');

const listSet = ({ emptied, changed }: OwnedTable): string =>
  [...emptied, ...changed].map(({ column, value }) => `${column} = ${value}`).join(', ');

export const emptyRow = listSet;

/** Rows that have something to erase: another run finds nothing, and counts nothing. */
function isFull({ emptied }: OwnedTable): SqlText {
  const list = (texts: string[]) => joinSql(texts, ', ');
  const stored = list(emptied.map(({ column }) => `t.${column}::text`));
  return sql`(${stored}) IS DISTINCT FROM (${list(emptied.map(({ value }) => `(${value})::text`))})`;
}

const LIMIT = sql`LIMIT {limit}::int`;

function register(verb: string, table: OwnedTable, text: SqlText): Erasure {
  const name = `erasure.${verb}_${table.name}`;
  return {
    table,
    statement: statement(name as 'erasure.erase_text_messages', text, {
      prepared: false,
      ...(isRecorded(table.name) && { records: true }),
    }).returning<{ was_counted: boolean }>(),
  };
}

function buildErasures(table: OwnedTable): Erasure[] {
  const { owners, deletedRows, emptied, changed } = table;
  if (owners.length === 0) return [];
  const isOwned = joinSql(
    owners.map(({ where }) => `(${where})`),
    ' OR ',
  );
  const counted = 't.deleted_at IS NULL';
  const erasures: Erasure[] = [];
  if (deletedRows)
    erasures.push(
      register(
        'delete',
        table,
        writeRows({
          table,
          where: sql`(${isOwned}) AND ${new SqlText(deletedRows.where)}`,
          ...(hasDeletedAt(table) && { counted }),
          limit: LIMIT,
        }),
      ),
    );
  if (emptied.length > 0)
    erasures.push(
      register(
        'erase',
        table,
        writeRows({
          table,
          where: sql`(${isOwned}) AND ${isFull(table)}`,
          set: listSet(table),
          ...(changed.some(({ column }) => column === 'deleted_at') && { counted }),
          limit: LIMIT,
        }),
      ),
    );
  return erasures;
}

/** In the order in which their rows are locked: leads are last, as the next portion finds them. */
export const ERASURES: readonly Erasure[] = OWNERSHIP.flatMap(buildErasures).toSorted(
  (a, b) => Number(a.table.name === 'leads') - Number(b.table.name === 'leads'),
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
