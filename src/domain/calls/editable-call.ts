import { identify, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { FIND_CALL, LOCK_CALL_ROW, LOCK_LEAD, READ_EDITABLE_CALL } from './queries/change-call';

/** A call, inbound or outbound, as needed to change it afterwards. */
export interface EditableCall {
  id: number;
  uuid: string;
  direction: 'inbound' | 'outbound';
  /** An outbound call whose buyers are dialed when it is answered. */
  routed: boolean;
  status: string;
  carrier: string;
  carrier_call_id: string | null;
  lead_id: number | null;
  /** The buyer it was connected to, else the last one that was dialed. */
  buyer_id: number | null;
  token_values: Record<string, unknown>;
  connected_at: Date | null;
  ended_at: Date | null;
  /** Seconds. */
  answered_duration: number | null;
}

/**
 * Reads a call and locks it until the transaction ends; undefined when there is none. The lead of
 * an outbound call is locked before the call, as in placing one; the lead of an inbound call, or of
 * an outbound one that is routed, is locked after it, as in handling its events.
 */
export async function lockEditableCall(
  db: Pick<Db, 'sql'>,
  reference: Reference,
): Promise<EditableCall | undefined> {
  const identifier = identify(reference);
  const [row] = identifier
    ? await db.sql(FIND_CALL[identifier.key], { value: identifier.value })
    : [];
  if (!row) return undefined;
  const { id, direction, lead_id, asks_us } = row;
  if (direction === 'outbound' && lead_id !== null && !asks_us) await lockLead(db, lead_id);
  await db.sql(LOCK_CALL_ROW, { id });
  // A statement of its own: it sees what the previous holder of the lock wrote to other tables.
  return (await db.sql(READ_EDITABLE_CALL, { id }))[0];
}

export async function lockLead(db: Pick<Db, 'sql'>, leadId: string): Promise<void> {
  await db.sql(LOCK_LEAD, { lead_id: leadId });
}
