import { countSlot } from '../db/records';
import type { Db } from '../db/tenant';

/** Columns that changed, by name. */
export type ChangedColumns = Record<string, { from: unknown; to: unknown }>;

/** An entry of the change log. */
export interface Change {
  uuid: string;
  created_at: Date;
  record_type: string;
  record_id: number | null;
  action: 'create' | 'update' | 'delete';
  /** operationId */
  operation: string;
  changes: ChangedColumns;
  user_id: bigint | null;
  user_email: string | null;
  access_token_id: bigint;
  credentials: string;
  request_id: string;
  ip: string;
}

const INSERT = `WITH counted AS (INSERT INTO record_counts (company_id, resource, slot, n) VALUES ($1, 'change_logs', $2::int, 1)
    ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + 1)
  INSERT INTO change_logs (company_id, uuid, created_at, record_type, record_id, action, operation, changes, user_id, user_email, access_token_id, credentials, request_id, ip)
  VALUES ($1, $3::uuid, $4::timestamptz, $5, $6::bigint, $7, $8, $9::json, $10::bigint, $11, $12::bigint, $13, $14, $15)`;

/** Writes an entry, in the transaction of the change. */
export async function recordChange(db: Db, change: Change): Promise<void> {
  const {
    uuid,
    created_at,
    record_type,
    record_id,
    action,
    operation,
    changes,
    user_id,
    user_email,
    access_token_id,
    credentials,
    request_id,
    ip,
  } = change;
  const who = [user_id, user_email, access_token_id, credentials, request_id, ip];
  await db.direct({
    name: 'record_change',
    text: INSERT,
    values: [
      db.company_id,
      countSlot(),
      uuid,
      created_at.toISOString(),
      record_type,
      record_id,
      action,
      operation,
      JSON.stringify(changes),
      ...who,
    ],
  });
}
