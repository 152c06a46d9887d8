import { moveCount } from '../db/counters';
import type { Db } from '../db/tenant';
import { uuidv7 } from '../db/uuid';
import { changeContacts } from '../leads/change-contacts';
import { writeLogs } from '../leads/write-logs';
import {
  FIND_INCOMING_MESSAGE,
  FIND_LEAD_OF_SENDER,
  INSERT_INCOMING_MESSAGE,
} from './queries/incoming-messages';

export interface IncomingMessage {
  /** E.164 digits. */
  from: number;
  to: number;
  body: string;
  carrier: string;
  /** The carrier's own id of the message; a repeated delivery has the same. */
  carrier_message_id: string;
}

/**
 * The opt-out or opt-in that a reply asks for. Carriers and laws require both words to be
 * understood at the beginning of a text, whatever follows.
 */
export function consentChangeOf(body: string): 'opt_out' | 'opt_in' | undefined {
  const [, word] = /^[^\p{L}]*(stop|unsubscribe|cancel|start\b)/iu.exec(body) ?? [];
  if (!word) return undefined;
  return word.toLowerCase() === 'start' ? 'opt_in' : 'opt_out';
}

/**
 * Stores a text message that was received, and opts its sender out or in when it says so. Returns
 * the id of the message; undefined for a repeated delivery, which changes nothing.
 */
export async function receiveTextMessage(
  db: Db,
  message: IncomingMessage,
  now: Date,
): Promise<bigint | undefined> {
  const { from, to, body, carrier, carrier_message_id } = message;
  return db.transaction(async (tx) => {
    // The first delivery has changed the contact, and a newer message may have changed it since.
    const stored = await tx.sql(FIND_INCOMING_MESSAGE, { carrier, carrier_message_id });
    if (stored.length > 0) return undefined;
    const change = consentChangeOf(body);
    const reason = `answered: ${beginningOf(body.trim(), 40)}`;
    // Contacts are locked before leads.
    if (change) await changeContacts(tx, change, [from], { now, message: reason });
    const [lead] = await tx.sql(FIND_LEAD_OF_SENDER, { from, to });
    const [inserted] = await tx.sql(INSERT_INCOMING_MESSAGE, {
      ...message,
      uuid: uuidv7(now.getTime()),
      now,
      lead_id: lead?.id ?? null,
      offer_id: lead?.offer_id ?? null,
      schedule_id: lead?.schedule_id ?? null,
    });
    if (!inserted) return undefined;
    await moveCount(tx, 'text_messages', 1);
    const entry = {
      company_id: tx.company_id,
      event: 'sms_received',
      message: beginningOf(body, 200),
      text_message_id: inserted.id,
    };
    if (lead) await writeLogs(tx.sql, [{ ...entry, lead_id: lead.id }], now);
    return BigInt(inserted.id);
  });
}

/** The first characters of a text, without half a surrogate pair, which PostgreSQL rejects. */
const beginningOf = (text: string, length: number): string =>
  text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
