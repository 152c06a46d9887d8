import { moveCount } from '../../data/counts/counters';
import type { Db } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import { contactRefusal } from '../../data/phone/contact-policy';
import type { Keyword } from './keywords';
import { INSERT_REPLY, READ_REPLY_SETTINGS } from './queries/keyword-replies';

/** The text that answers a message, and the key under which its carrier reports about it. */
export interface KeywordReply {
  key: string;
  body: string;
}

interface AnsweredMessage {
  id: bigint;
  /** E.164 digits: of the sender, and of the company. */
  from: number;
  to: number;
  carrier: string;
  lead: { id: string; offer_id: string | null; schedule_id: string | null } | undefined;
}

const DEFAULTS: Record<Keyword, (company: string) => string> = {
  help: (company) => `${company}: to get no more messages, reply STOP.`,
  opt_out: (company) =>
    `${company}: you are unsubscribed and get no more messages. Reply START to come back.`,
  opt_in: (company) => `${company}: you get messages again. Reply STOP to end them.`,
};

/**
 * Stores the answer to a message of one of the keywords, for the carrier to send; undefined when
 * the company answers none. The index on `in_reply_to_id` permits one answer for each message.
 */
export async function replyToKeyword(
  tx: Db,
  keyword: Keyword,
  { id, from, to, carrier, lead }: AnsweredMessage,
  now: Date,
): Promise<KeywordReply | undefined> {
  const [company] = await tx.sql(READ_REPLY_SETTINGS, {});
  if (!company?.keyword_replies || contactRefusal(from, company)) return undefined;
  const body = company[`${keyword}_text`] ?? DEFAULTS[keyword](company.name);
  const key = uuidv7(now.getTime());
  await tx.sql(INSERT_REPLY, {
    uuid: key,
    now,
    from: to,
    to: from,
    body,
    carrier,
    // Other carriers report the later status.
    status: carrier === 'sandbox' ? 'delivered' : 'queued',
    lead_id: lead?.id ?? null,
    offer_id: lead?.offer_id ?? null,
    schedule_id: lead?.schedule_id ?? null,
    in_reply_to_id: id,
  });
  await moveCount(tx, 'text_messages', 1);
  return { key, body };
}
