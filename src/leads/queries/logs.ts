import type { Db } from '../../db/tenant';

export type Executor = Pick<Db, 'query'>;

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

const WRITE = `WITH entry AS (SELECT * FROM jsonb_to_recordset($2::jsonb) AS x(n int, company_id bigint, lead_id bigint, event text, message text, schedule_action_id bigint, call_id bigint, text_message_id bigint,
    email_id bigint, details jsonb)),
  logged AS (INSERT INTO lead_logs (company_id, created_at, lead_id, event, message, schedule_action_id, call_id, text_message_id, email_id, details)
    SELECT company_id, $1::timestamptz, lead_id, event, message, schedule_action_id, call_id, text_message_id, email_id, details FROM entry ORDER BY n RETURNING id)
  SELECT id::text FROM logged ORDER BY logged.id`;

/** Writes what happened to leads, in this order, and answers the ids of the rows. */
export async function writeLogs(
  db: Executor,
  entries: readonly (LogEntry & { company_id: string | bigint })[],
  now: Date,
): Promise<string[]> {
  if (entries.length === 0) return [];
  const rows = entries.map((entry, n) => ({
    ...entry,
    n,
    company_id: String(entry.company_id),
    lead_id: String(entry.lead_id),
  }));
  return (
    await db.query<{ id: string }>({
      text: WRITE,
      values: [now.toISOString(), JSON.stringify(rows)],
    })
  ).map(({ id }) => id);
}
