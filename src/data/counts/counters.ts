import { MOVE_COUNT } from './queries/counters';
import type { Table } from '../references';
import { sql, SqlText } from '../sql';
import type { Db } from '../db';

// Exact counts of records without count(*): record_counts has several rows (slots) for each company
// and resource, so that parallel transactions do not wait for one another; the count is their sum.
// A connection always writes to the same slot, so a transaction that counts several times locks one
// row of each count.

/**
 * Adds rows to the count of their resource, or subtracts them (-1): a CTE of the statement that
 * writes them. `rows` is the CTE with those rows; it has a column company_id.
 */
export function countRows(resource: Table, rows: string, sign: 1 | -1 = 1): SqlText {
  const [name, from] = [new SqlText(`'${resource}'`), new SqlText(rows)];
  return sql`
    INSERT INTO record_counts (company_id, resource, slot, n)
    SELECT company_id, ${name}, pg_backend_pid() % 64, ${sign === 1 ? ROWS : MINUS_ROWS}
    FROM ${from}
    GROUP BY company_id
    ORDER BY company_id
    ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n`;
}

const ROWS = sql`count(*)`;
const MINUS_ROWS = sql`-count(*)`;

export async function moveCount(db: Pick<Db, 'sql'>, resource: Table, by: number): Promise<void> {
  await db.sql(MOVE_COUNT, { resource, by });
}
