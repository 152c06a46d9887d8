import type { Db } from '../../data/db';
import { contactRefusal } from '../../data/phone/contact-policy';
import type { Row } from '../../data/sql';
import { uuidv7 } from '../../data/uuid';
import { cutText } from '../../platform/storable-text';
import { changeContacts } from '../leads/change-contacts';
import { parseKeyword, type Keyword } from './keywords';
import { READ_REPLY_SETTINGS, RECORD_TEXT } from './queries/carrier-reports';

export interface IncomingMessage {
  /** E.164 digits; null for a sender without a number. */
  from: number | null;
  tokens?: { caller_raw?: string };
  to: number;
  body: string;
  carrier: string;
  /** The carrier's own id of the message; a repeated delivery has the same id. */
  carrier_message_id: string;
  /** The carrier itself answers keywords of consent. */
  answered_by_carrier?: boolean;
  /** The keyword that the carrier has recognized: it counts, whatever the body. */
  carrier_keyword?: Keyword | undefined;
}

/** The text that answers a message, and the key under which its carrier reports about it. */
interface KeywordReply {
  key: string;
  body: string;
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
export function receiveTextMessage(
  db: Db,
  message: IncomingMessage,
  now: Date,
): Promise<ReceivedMessage> {
  const { from, carrier, carrier_message_id } = message;
  const keyword =
    from === null ? undefined : (message.carrier_keyword ?? parseKeyword(message.body));
  if (from === null || !keyword)
    return recordText(db, message, { reaches_schedules: from !== null, now });
  return db.transaction(async (tx) => {
    const [settings] = await tx.sql(READ_REPLY_SETTINGS, { carrier, carrier_message_id });
    // The first delivery has changed the contact, and a newer message may have changed it since.
    // Contacts are locked before leads.
    const hasEffect =
      !settings!.is_repeated && (await changeConsent(tx, keyword, { ...message, from }, now));
    const body = hasEffect ? chooseReply(keyword, { ...message, from }, settings!) : undefined;
    // A keyword of consent is not a message to the company, nor is a second STOP.
    const reachesSchedules = !hasEffect && keyword !== 'opt_out';
    return recordText(tx, message, { reaches_schedules: reachesSchedules, reply: body, now });
  });
}

type NumberedMessage = IncomingMessage & { from: number };

/** Returns whether the keyword takes effect: a second STOP does not. */
async function changeConsent(
  tx: Db,
  keyword: Keyword,
  { from, body }: NumberedMessage,
  now: Date,
): Promise<boolean> {
  if (keyword === 'help') return true;
  const message = `answered: ${cutText(body.trim(), 40) || keyword}`;
  return (await changeContacts(tx, keyword, [from], { now, message })) > 0;
}

const DEFAULTS: Record<Keyword, (company: string) => string> = {
  help: (company) => `${company}: to get no more messages, reply STOP.`,
  opt_out: (company) =>
    `${company}: you are unsubscribed and get no more messages. Reply START to come back.`,
  opt_in: (company) => `${company}: you get messages again. Reply STOP to end them.`,
};

/** The answer to a keyword; undefined when the company gives none. */
function chooseReply(
  keyword: Keyword,
  { from, answered_by_carrier }: NumberedMessage,
  company: Row<'outreach.read_reply_settings', { contact_prefixes: string[] }>,
): string | undefined {
  if (answered_by_carrier || !company.keyword_replies || contactRefusal(from, company))
    return undefined;
  return company[`${keyword}_text`] ?? DEFAULTS[keyword](company.name);
}

/** Stores a message and its reply in one exchange, or returns what was stored of it before. */
async function recordText(
  { sql }: Db,
  { from, to, body, tokens = {}, carrier, carrier_message_id }: IncomingMessage,
  { reaches_schedules, reply, now }: { reaches_schedules: boolean; reply?: string; now: Date },
): Promise<ReceivedMessage> {
  const message = {
    ...{ body, carrier, carrier_message_id, reaches_schedules },
    uuid: uuidv7(now.getTime()),
    from_number: from,
    token_values: tokens,
    to_number: to,
    excerpt: cutText(body, 200),
  };
  // Other carriers report the later status.
  const status = carrier === 'sandbox' ? 'delivered' : 'queued';
  const replyMessage =
    reply === undefined ? null : { uuid: uuidv7(now.getTime()), body: reply, status };
  const [row] = await sql(RECORD_TEXT, {
    message: JSON.stringify(message),
    reply: replyMessage && JSON.stringify(replyMessage),
    now,
  });
  const { message_id, reply_key, reply_body } = row!;
  const stored = reply_key === null ? undefined : { key: reply_key, body: reply_body! };
  return { id: BigInt(message_id), reply: stored };
}
