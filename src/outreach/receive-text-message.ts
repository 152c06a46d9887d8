import { changeContacts } from '../leads/queries/contacts';
import { writeLogs } from '../leads/queries/logs';
import type { Db } from '../db/tenant';
import { uuidv7 } from '../db/uuid';
import { moveCount } from '../db/counters';

export interface IncomingMessage {
  /** E.164 digits. */
  from: number;
  to: number;
  body: string;
  carrier: string;
  /** The carrier's own id of it, by which a second delivery is known. */
  carrier_message_id: string;
}

/** What a reply asks for: carriers and laws want both understood at the beginning of a text, whatever follows. */
export function wishOf(body: string): 'opt_out' | 'opt_in' | undefined {
  const [, word] = /^[^\p{L}]*(stop|unsubscribe|cancel|start\b)/iu.exec(body) ?? [];
  if (!word) return undefined;
  return word.toLowerCase() === 'start' ? 'opt_in' : 'opt_out';
}

/** The lead that a text is about: a live one before one that ended, one that was texted from this number before others, then the last. */
const LEAD = `SELECT l.id, l.offer_id, l.schedule_id FROM leads l LEFT JOIN numbers n ON n.company_id = l.company_id AND n.id = l.sms_number_id
  WHERE l.company_id = $1 AND l.caller_number = $2::bigint AND l.deleted_at IS NULL ORDER BY l.is_live DESC, n.phone_number IS NOT DISTINCT FROM $3::bigint DESC, l.id DESC LIMIT 1`;

/**
 * Keeps a text that came in, once however often it is delivered, and opts its sender out or in again when it says so. Answers the message's id;
 * undefined for a second delivery.
 */
export async function receiveTextMessage(
  db: Db,
  message: IncomingMessage,
  now: Date,
): Promise<bigint | undefined> {
  const { from, to, body, carrier, carrier_message_id } = message;
  return db.transaction(async (tx) => {
    // Its wish has been met, and another may have come since.
    if (await isKept(tx, message)) return undefined;
    const wish = wishOf(body);
    const context = {
      now,
      message: `answered: ${beginningOf(body.trim(), 40)}`,
      newUuid: () => uuidv7(now.getTime()),
    };
    // Contacts are locked before leads.
    if (wish) await changeContacts(tx, wish, [from], context);
    const [lead] = await tx.query<{
      id: bigint;
      offer_id: bigint | null;
      schedule_id: bigint | null;
    }>({ text: LEAD, values: [tx.company_id, from, to] });
    const [made] = await tx.query<{ id: bigint }>({
      text: `INSERT INTO text_messages (company_id, uuid, created_at, updated_at, direction, from_number, to_number, body, status, carrier, carrier_message_id, lead_id, offer_id, schedule_id)
        VALUES ($1::bigint, $2::uuid, $3::timestamptz, $3::timestamptz, 'inbound', $4::bigint, $5::bigint, $6, 'received', $7, $8, $9::bigint, $10::bigint, $11::bigint)
        ON CONFLICT (company_id, carrier, carrier_message_id) DO NOTHING RETURNING id`,
      values: [
        tx.company_id,
        uuidv7(now.getTime()),
        now.toISOString(),
        from,
        to,
        body,
        carrier,
        carrier_message_id,
        lead?.id ?? null,
        lead?.offer_id ?? null,
        lead?.schedule_id ?? null,
      ],
    });
    if (!made) return undefined;
    await moveCount(tx, 'text_messages', 1);
    const log = {
      company_id: tx.company_id,
      event: 'sms_received',
      message: beginningOf(body, 200),
      text_message_id: String(made.id),
    };
    if (lead) await writeLogs(tx, [{ ...log, lead_id: lead.id }], now);
    return BigInt(made.id);
  });
}

/** Without half of a pair where it is cut, which PostgreSQL does not take. */
const beginningOf = (text: string, length: number): string =>
  text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

async function isKept(db: Db, { carrier, carrier_message_id }: IncomingMessage): Promise<boolean> {
  const text =
    'SELECT id FROM text_messages WHERE company_id = $1 AND carrier = $2 AND carrier_message_id = $3';
  return (
    (await db.query({ text, values: [db.company_id, carrier, carrier_message_id] })).length > 0
  );
}
