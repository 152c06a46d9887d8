import type { Db } from '../../data/db';
import { INSERT_CHANGE } from './queries/change-log';

export type ChangedColumns = Record<string, { from: unknown; to: unknown }>;

export interface Change {
  uuid: string;
  created_at: Date;
  record_type: string;
  record_id: number | null;
  action: 'create' | 'update' | 'delete';
  /** operationId */
  operation: string;
  changes: ChangedColumns;
  /** The part that a limited caller may read; null for callers who may read all. */
  changes_shown: ChangedColumns | null;
  user_id: bigint | null;
  user_email: string | null;
  /** Null for a lead token. */
  access_token_id: bigint | null;
  credentials: string;
  request_id: string;
  /** X-Request-Id as the client sent it. */
  client_request_id: string | null;
  ip: string;
}

/** Writes an entry, in the transaction of the change. */
export async function recordChange(db: Db, change: Change): Promise<void> {
  const { created_at, changes, changes_shown } = change;
  await db.sql(INSERT_CHANGE, {
    ...change,
    created_at: created_at.toISOString(),
    changes: JSON.stringify(changes),
    changes_shown: changes_shown && JSON.stringify(changes_shown),
  });
}
