import { round, say } from './tools';
import { query } from './world';

// Shows which statements take the time of the database.

const SHOWN = 10;

export interface StatementShare {
  share: string;
  calls: number;
  mean_ms: number;
  statement: string;
}

export async function resetStatements(url: string): Promise<void> {
  await query(url, 'CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  await query(url, 'SELECT pg_stat_statements_reset()');
}

export async function topStatements(url: string): Promise<StatementShare[]> {
  const rows = await query(
    url,
    String.raw`SELECT calls::int AS calls, mean_exec_time AS mean_ms,
      100 * total_exec_time / sum(total_exec_time) OVER () AS percent,
      left(regexp_replace(query, '\s+', ' ', 'g'), 120) AS statement
    FROM pg_stat_statements
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
    ORDER BY total_exec_time DESC
    LIMIT ${SHOWN}`,
  );
  return rows.map(({ calls, mean_ms, percent, statement }) => ({
    share: `${round(Number(percent), 1)}%`,
    calls: Number(calls),
    mean_ms: round(Number(mean_ms)),
    statement: String(statement),
  }));
}

export function printStatements(statements: readonly StatementShare[]): void {
  for (const { share, calls, mean_ms, statement } of statements)
    say(`${share.padStart(6)} of the database: ${calls} × ${mean_ms} ms  ${statement}`);
}
