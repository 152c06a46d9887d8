import type { CallStatus, FailureCode, MessageStatus } from './carrier';

const MESSAGE: Record<string, MessageStatus> = {
  accepted: 'queued',
  scheduled: 'queued',
  queued: 'queued',
  sending: 'queued',
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
  // It has ended, or its TwiML has.
  21220: 'not_live',
  // A sender's queue is full: nothing is wrong with the message.
  21611: 'unavailable',
};

/** Our word for Twilio's status of a message; undefined for one we do not know. */
export const messageStatusOf = (status: string): MessageStatus | undefined =>
  Object.hasOwn(MESSAGE, status) ? MESSAGE[status] : undefined;

/** Our word for Twilio's status of a call; undefined for one we do not know. */
export const callStatusOf = (status: string): CallStatus | undefined =>
  Object.hasOwn(CALL, status) ? CALL[status] : undefined;

/** Our code for one of Twilio's, as errors and status callbacks (ErrorCode) have it. */
export const failureCodeOf = (code: number | string): string =>
  CODES[Number(code)] ?? `twilio_${code}`;

/** Words for a caller who withholds the number, and what a keypad makes of ANONYMOUS, RESTRICTED, BLOCKED, UNKNOWN and UNAVAILABLE. */
const WITHHELD =
  /^(\s*|anonymous|restricted|blocked|unknown|unavailable|private|withheld|\+?(266696687|7378742833|2562533|8656696|86282452253))$/i;

/** Whether a caller as Twilio names it shows no telephone number: a SIP address is none either. */
export const isWithheld = (from: string): boolean =>
  WITHHELD.test(from.trim()) || /^sips?:|@/i.test(from.trim());
