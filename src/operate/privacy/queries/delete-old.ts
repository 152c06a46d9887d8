import { sql, SqlText, statement, type Statement } from '../../../data/sql';
import {
  isInterval,
  listReferences,
  OWNERSHIP,
  type OwnedTable,
  type Retention,
  type RetentionRule,
} from '../ownership';
import { isRecorded, joinSql, writeRows } from './rows';

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
  { since, where }: RetentionRule,
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
  const { name } = table;
  const rules = table.retention.filter((rule) => !isInterval(rule));
  if (rules.length === 0) return [];
  const statements = [
    ...buildPartDeletions(name, name, IDS),
    register(`delete_${name}`, table, writeRows({ table, where: sql`t.id ${IDS}` })),
  ];
  return rules.map((rule, n) => ({
    table: name,
    setting: rule.period as keyof Retention,
    lock: buildLock(table, rule, n === 0 ? '' : `_by_${rule.since}`),
    statements,
  }));
}

export const DELETIONS: readonly Deletion[] = OWNERSHIP.flatMap(buildDeletions);

/** Rows that other transactions have locked are deleted another time. */
function buildExpiry({ name, key, indexed }: OwnedTable, rule: RetentionRule): Expiry {
  const [table, time, condition] = [name, rule.since, rule.where].map((text) => new SqlText(text));
  const columns = ['company_id', ...key];
  // The index leads to the oldest rows; without one, sorting them would cost more than it saves.
  const order = indexed.includes(rule.since) ? sql`ORDER BY t.${time!}` : sql``;
  const isExpired = columns.map((column) => `t.${column} = e.${column}`);
  return statement(
    `retention.delete_expired_${name}` as 'retention.delete_expired_bids',
    sql`
      WITH expired AS (
        SELECT ${joinSql(columns, ', ')}
        FROM ${table!} t
        WHERE t.${time!} < now() - interval '${new SqlText(rule.period)}' AND ${condition!}
        ${order}
        LIMIT {limit}::int
        FOR UPDATE OF t SKIP LOCKED
      ),
      deleted AS (
        DELETE FROM ${table!} t
        USING expired e
        WHERE ${joinSql(isExpired, ' AND ')}
        RETURNING t.company_id
      )
      SELECT count(*)::int AS deleted FROM deleted
    `,
    { prepared: false },
  );
}

type Expiry = Statement<'retention.delete_expired_bids'>;

/** Delete rows of all companies that are kept for a fixed time. */
export const EXPIRIES: readonly Expiry[] = OWNERSHIP.flatMap((table) =>
  table.retention.filter(isInterval).map((rule) => buildExpiry(table, rule)),
);
