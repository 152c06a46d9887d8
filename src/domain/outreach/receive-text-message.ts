import { moveCount } from '../../data/counts/counters';
import type { Db } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import { changeContacts } from '../leads/change-contacts';
import { writeLogs } from '../leads/write-logs';
import { cutText } from '../../platform/storable-text';
import { parseKeyword, type Keyword } from './keywords';
import {
  FIND_INCOMING_MESSAGE,
  FIND_LEAD_OF_SENDER,
  INSERT_INCOMING_MESSAGE,
  RECORD_REPLY,
  RECORD_TEXT_EVENT,
} from './queries/incoming-messages';
import { FIND_REPLY } from './queries/keyword-replies';
import { replyToKeyword, type KeywordReply } from './reply-to-keyword';

export interface IncomingMessage {
  /** E.164 digits. */
  from: number;
  to: number;
  body: string;
  carrier: string;
  /** The carrier's own id of the message; a repeated delivery has the same id. */
  carrier_message_id: string;
  /** The carrier itself answers keywords of consent. */
  answered_by_carrier?: boolean;
}

export interface ReceivedMessage {
  id: bigint;
  /** The reply to send, also when the message is delivered again. */
  reply: KeywordReply | undefined;
}

/**
 * Stores a text message that was received, and opts its sender out or in when it says so, with or
 * without a lead of the number. A repeated delivery changes nothing and returns the same reply:
 * carriers repeat deliveries that were not answered.
 */
export async function receiveTextMessage(
  db: Db,
  message: IncomingMessage,
  now: Date,
): Promise<ReceivedMessage> {
  const { carrier, carrier_message_id } = message;
  return db.transaction(async (tx) => {
    // The first delivery has changed the contact, and a newer message may have changed it since.
    const [storedMessage] = await tx.sql(FIND_INCOMING_MESSAGE, { carrier, carrier_message_id });
    if (storedMessage) return loadRepeatedMessage(tx, storedMessage.id);
    const keyword = parseKeyword(message.body);
    // Contacts are locked before leads.
    const hasEffect = keyword && (await changeConsent(tx, keyword, message, now));
    const received = await storeMessage(tx, message, now);
    if (!received) {
      const [first] = await tx.sql(FIND_INCOMING_MESSAGE, { carrier, carrier_message_id });
      return loadRepeatedMessage(tx, first!.id);
    }
    // A keyword of consent is not a message to the company, nor is a second STOP.
    if (!hasEffect && keyword !== 'opt_out') await notifySchedules(tx, received, now);
    const reply =
      hasEffect && !message.answered_by_carrier
        ? await replyToKeyword(tx, keyword, { ...message, ...received }, now)
        : undefined;
    return { id: received.id, reply };
  });
}

/** A text of a lead may end its schedule, and start others. */
async function notifySchedules(
  { sql }: Db,
  { id, lead }: { id: bigint; lead: { id: string } | undefined },
  now: Date,
): Promise<void> {
  if (lead) await sql(RECORD_REPLY, { lead_id: lead.id, now });
  await sql(RECORD_TEXT_EVENT, { lead_id: lead?.id ?? null, text_message_id: id });
}

async function loadRepeatedMessage({ sql }: Db, id: string): Promise<ReceivedMessage> {
  const [reply] = await sql(FIND_REPLY, { id });
  return { id: BigInt(id), reply };
}

/** Returns whether the keyword takes effect: a second STOP does not. */
async function changeConsent(
  tx: Db,
  keyword: Keyword,
  { from, body }: IncomingMessage,
  now: Date,
): Promise<boolean> {
  if (keyword === 'help') return true;
  const message = `answered: ${cutText(body.trim(), 40)}`;
  return (await changeContacts(tx, keyword, [from], { now, message })) > 0;
}

/** Stores a message with the lead of its sender; undefined if another request has stored it. */
async function storeMessage(tx: Db, message: IncomingMessage, now: Date) {
  const { from, to, body, carrier, carrier_message_id } = message;
  const [lead] = await tx.sql(FIND_LEAD_OF_SENDER, { from, to });
  const [inserted] = await tx.sql(INSERT_INCOMING_MESSAGE, {
    from,
    to,
    body,
    carrier,
    carrier_message_id,
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
    message: cutText(body, 200),
    text_message_id: inserted.id,
  };
  if (lead) await writeLogs(tx.sql, [{ ...entry, lead_id: lead.id }], now);
  return { id: BigInt(inserted.id), lead };
}
