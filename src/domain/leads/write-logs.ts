import type { Sql, TenantSql } from '../../data/sql';
import { WRITE_LOGS } from './queries/write-logs';

/** One line of a lead's history. Ids are decimal text. */
export interface LogEntry {
  lead_id: string | bigint;
  event: string;
  message?: string | null;
  schedule_action_id?: string | null;
  call_id?: string | null;
  text_message_id?: string | null;
  email_id?: string | null;
  details?: Record<string, unknown> | null;
}

export type TenantLogEntry = LogEntry & { company_id: string | bigint };

/**
 * Writes entries to the histories of leads, in this order, and returns their ids. Each entry has
 * its company, so `sql` may belong to a company or to a connection.
 */
export async function writeLogs(
  sql: Sql | TenantSql,
  entries: readonly TenantLogEntry[],
  now: Date,
): Promise<string[]> {
  if (entries.length === 0) return [];
  const rows = entries.map((entry, n) => ({
    ...entry,
    n,
    company_id: String(entry.company_id),
    lead_id: String(entry.lead_id),
  }));
  const logged = await (sql as Sql)(WRITE_LOGS, { entries: JSON.stringify(rows), now });
  return logged.map(({ id }) => id);
}
