import { sql, SqlText, statement, type Statement } from '../../../data/sql';
import { listReferences, OWNERSHIP, type OwnedTable, type Retention } from '../ownership';
import { isRecorded, writeRows } from './rows';

// Deletes records of a company that are older than `before`, some at a time. The statements that
// delete their parts follow from the foreign keys.

export const LIST_COMPANIES = statement(
  'retention.list_companies',
  sql`SELECT id FROM companies ORDER BY id`,
  { prepared: false },
);

type DeletionStatement = Statement<'retention.delete_calls'>;

export interface Deletion {
  table: string;
  setting: keyof Retention;
  /** Locks old records in the order of their ids. */
  lock: Statement<'retention.lock_calls', { id: string; was_counted: boolean }>;
  /** Parts first, and rows that forget the records; then the records. */
  statements: readonly DeletionStatement[];
}

const IDS = sql`= ANY ({ids}::bigint[])`;

const register = (name: string, table: OwnedTable, text: SqlText): DeletionStatement =>
  statement(`retention.${name}` as 'retention.delete_calls', text, {
    prepared: false,
    ...(isRecorded(table.name) && { records: true }),
  });

/** Statements for the rows that name rows of a table whose ids match. */
const buildPartDeletions = (name: string, root: string, match: SqlText): DeletionStatement[] =>
  listReferences(name).flatMap(({ table, column, is_part }) => {
    const where = sql`${new SqlText(`t.${column}`)} ${match}`;
    const suffix = `${table.name}_of_${root}${root === name ? '' : `_by_${name}`}`;
    if (!is_part)
      return register(
        `detach_${suffix}`,
        table,
        writeRows({ table, where, set: `${column} = NULL` }),
      );
    const parts = sql`IN (
      SELECT p.id FROM ${new SqlText(table.name)} p
      WHERE p.company_id = {company_id} AND ${new SqlText(`p.${column}`)} ${match}
    )`;
    return [
      ...buildPartDeletions(table.name, root, parts),
      register(`delete_${suffix}`, table, writeRows({ table, where })),
    ];
  });

/**
 * Locks the oldest rows that are still to be deleted. The inner list uses the index of the table by
 * company and time; it is read once, whatever its size is believed to be.
 */
function buildLock(
  { name, columns }: OwnedTable,
  { since, where }: { since: string; where: string },
  suffix: string,
): Deletion['lock'] {
  const [table, time, condition] = [new SqlText(name), new SqlText(since), new SqlText(where)];
  const counted = columns.some((column) => column.name === 'deleted_at')
    ? sql`t.deleted_at IS NULL`
    : sql`true`;
  return statement(
    `retention.lock_${name}${suffix}` as 'retention.lock_calls',
    sql`
      SELECT t.id::text, ${counted} AS was_counted
      FROM ${table} t
      WHERE t.company_id = {company_id} AND ${condition} AND t.id = ANY (ARRAY(
        SELECT o.id
        FROM ${table} o
        WHERE o.company_id = {company_id} AND o.${time} < {before}::timestamptz AND ${condition}
        ORDER BY o.${time}, o.id
        LIMIT {limit}::int
      ))
      ORDER BY t.id
      FOR UPDATE
    `,
    { prepared: false },
  ).returning<{ id: string; was_counted: boolean }>();
}

function buildDeletions(table: OwnedTable): Deletion[] {
  if (table.retention.length === 0) return [];
  const { name } = table;
  const statements = [
    ...buildPartDeletions(name, name, IDS),
    register(`delete_${name}`, table, writeRows({ table, where: sql`t.id ${IDS}` })),
  ];
  return table.retention.map((rule, n) => ({
    table: name,
    setting: rule.setting,
    lock: buildLock(table, rule, n === 0 ? '' : `_by_${rule.since}`),
    statements,
  }));
}

export const DELETIONS: readonly Deletion[] = OWNERSHIP.flatMap(buildDeletions);
