import type { AnsweredBy, CallStatus, FailureCode, MessageStatus } from './carrier';
import type { Dialect } from './dialects/dialect';

const MESSAGE: Record<string, MessageStatus> = {
  accepted: 'queued',
  scheduled: 'queued',
  queued: 'queued',
  sending: 'queued',
  // eslint-disable-next-line id-denylist -- Twilio's word
  sent: 'sent',
  delivered: 'delivered',
  read: 'delivered',
  undelivered: 'undelivered',
  failed: 'failed',
  canceled: 'failed',
  receiving: 'received',
  received: 'received',
};

const CALL: Record<string, CallStatus> = {
  queued: 'queued',
  initiated: 'queued',
  ringing: 'ringing',
  'in-progress': 'in_progress',
  answered: 'in_progress',
  completed: 'completed',
  busy: 'busy',
  'no-answer': 'no_answer',
  canceled: 'canceled',
  failed: 'failed',
};

/** https://www.twilio.com/docs/api/errors */
const CODES: Record<number, FailureCode> = {
  21211: 'invalid_number',
  21217: 'invalid_number',
  30005: 'invalid_number',
  21614: 'not_a_mobile',
  30006: 'not_a_mobile',
  21610: 'opted_out',
  21214: 'unreachable',
  21612: 'unreachable',
  30003: 'unreachable',
  30007: 'filtered',
  21422: 'not_available',
  // The call or its TwiML has ended.
  21220: 'not_live',
  // The sender's queue is full: the message itself is fine.
  21611: 'unavailable',
};

export const toMessageStatus = (status = ''): MessageStatus | undefined =>
  Object.hasOwn(MESSAGE, status) ? MESSAGE[status] : undefined;

export const toCallStatus = (status = ''): CallStatus | undefined =>
  Object.hasOwn(CALL, status) ? CALL[status] : undefined;

/** Undefined when the carrier was not asked for it. */
export function toAnsweredBy(word: string | undefined): AnsweredBy | undefined {
  if (!word) return undefined;
  if (word.startsWith('machine')) return 'machine';
  return word === 'human' || word === 'fax' ? word : 'unknown';
}

export const toFailureCode = (
  code: number | string,
  { name, failure_codes }: Pick<Dialect, 'name' | 'failure_codes'>,
): string => (failure_codes ?? CODES)[Number(code)] ?? `${failure_codes ? name : 'twilio'}_${code}`;

const WITHHELD = /^(|anonymous|restricted|blocked|unknown|unavailable|private|withheld)$/i;
/** ANONYMOUS, RESTRICTED, BLOCKED, UNKNOWN and UNAVAILABLE as typed on a keypad. */
const WITHHELD_DIGITS = /^\+?(266696687|7378742833|2562533|8656696|86282452253)$/;

/** True for a blank text, and for a word in place of a number. */
export const isWithheldName = (text: string): boolean => WITHHELD.test(text.trim());

/** True if Twilio's name of a caller is no telephone number, which a SIP address is not either. */
export const isWithheld = (from: string): boolean =>
  [WITHHELD, WITHHELD_DIGITS, /^sips?:|@/i].some((pattern) => pattern.test(from.trim()));
