import { DIAL_LIMIT_SECONDS } from '../calls/session';
import type { DialBuyer, Instruction } from '../routing/engine/instruction';

/** What is needed to dial a buyer. */
export type DialedLeg = Pick<
  DialBuyer,
  | 'attempt'
  | 'number'
  | 'timeout_seconds'
  | 'caller_id'
  | 'dtmf_tones'
  | 'press_one_to_accept'
  | 'record_calls'
>;

/** Where the carrier asks what to do next, and reports about the buyers it dials. */
export interface CallbackUrls {
  /** When a <Dial> is over, by whichever side. */
  dial_status: string;
  voicemail: string;
  attempt_status(attempt: string): string;
  whisper(attempt: string): string;
}

export interface TwimlContext {
  urls: CallbackUrls;
  /** What the caller hears before a buyer is dialed; null when it has heard that. */
  greeting: string | null;
  /** The number of the company that was called: + and digits. */
  number_called: string;
  /** Whether the call has not been answered yet, by a greeting or by a buyer. */
  unanswered: boolean;
}

/** The carrier accepts no more nouns in one <Dial>. */
export const MAX_LEGS = 10;
/** The shortest and the longest ring time that the carrier accepts. */
const RING_SECONDS = { min: 5, max: 600 };
const VOICEMAIL_SECONDS = 120;
const KEY_SECONDS = 10;
const EVENTS = 'initiated ringing answered completed';

/** Reasons for which a call is rejected instead of answered. */
const REJECTED_REASONS = new Set(['blacklisted', 'offer_suppressed']);

/** Without verbs the carrier bridges the call, or hangs up when nothing is left to do. */
export const NOTHING = document('');
export const HANG_UP = document('<Hangup/>');
export const REJECT = document('<Reject/>');

/** A text message that answers the one that was received. */
export const messageTwiml = (body: string, status_url: string): string =>
  document(element('Message', { action: status_url, method: 'POST' }, text(body)));

/** The instruction of a call as TwiML. Pure. */
export function twimlOf(
  { action, reason, dial, fallback }: Instruction<DialedLeg>,
  context: TwimlContext,
): string {
  switch (action) {
    case 'dial':
      return document(say(context.greeting) + dialOf(dial, context));
    case 'fallback':
      return document(say(fallback!.message) + fallbackOf(fallback!, context));
    case 'hang_up':
      return context.unanswered && REJECTED_REASONS.has(reason ?? '') ? REJECT : HANG_UP;
    default:
      return NOTHING;
  }
}

/** What a buyer who must press 1 hears. Without a key the leg ends in <Hangup/>. */
export function whisperTwiml(key_url: string): string {
  const gather = {
    numDigits: 1,
    timeout: KEY_SECONDS,
    action: key_url,
    actionOnEmptyResult: true,
  };
  return document(element('Gather', gather, say('Press 1 to take this call.')) + '<Hangup/>');
}

function fallbackOf(
  { type, number }: NonNullable<Instruction<DialedLeg>['fallback']>,
  { urls }: TwimlContext,
): string {
  if (type === 'voicemail') {
    const record = { action: urls.voicemail, maxLength: VOICEMAIL_SECONDS };
    return `<Record${attributes(record)}/><Hangup/>`;
  }
  if (type !== 'number' || !number) return '<Hangup/>';
  return element(
    'Dial',
    { timeLimit: DIAL_LIMIT_SECONDS, answerOnBridge: true },
    element(nounOf(number), {}, text(number)),
  );
}

function dialOf(dial: readonly DialedLeg[], { urls, number_called }: TwimlContext): string {
  const ring = Math.max(...dial.map(({ timeout_seconds }) => timeout_seconds));
  const of_dial = {
    timeout: Math.min(Math.max(ring, RING_SECONDS.min), RING_SECONDS.max),
    callerId: callerIdOf(dial, number_called),
    action: urls.dial_status,
    record: dial.some(({ record_calls }) => record_calls) ? 'record-from-answer' : undefined,
    timeLimit: DIAL_LIMIT_SECONDS,
    answerOnBridge: true,
  };
  return element(
    'Dial',
    of_dial,
    dial
      .slice(0, MAX_LEGS)
      .map((leg) => legOf(leg, urls))
      .join(''),
  );
}

/**
 * A <Dial> shows one number to all buyers. Without one the carrier would show the caller's, which
 * some must not see: then, and if they should see different ones, they see the number called.
 */
function callerIdOf(dial: readonly DialedLeg[], number_called: string): string {
  const [shown, ...others] = new Set(dial.map(({ caller_id }) => caller_id));
  return others.length === 0 && shown ? shown : number_called;
}

function legOf(
  { attempt, number, dtmf_tones, press_one_to_accept }: DialedLeg,
  urls: CallbackUrls,
): string {
  const noun = nounOf(number);
  const of_leg = {
    // Tones can be sent to telephone numbers only.
    sendDigits: noun === 'Number' && dtmf_tones ? dtmf_tones.replaceAll('W', 'ww') : undefined,
    url: press_one_to_accept ? urls.whisper(attempt) : undefined,
    statusCallback: urls.attempt_status(attempt),
    statusCallbackEvent: EVENTS,
  };
  return element(noun, of_leg, text(number));
}

const nounOf = (number: string): 'Sip' | 'Number' => (/^sips?:/i.test(number) ? 'Sip' : 'Number');
const say = (words: string | null): string =>
  words?.trim() ? element('Say', {}, text(words)) : '';

type Attributes = Record<string, string | number | boolean | undefined>;

const element = (name: string, own: Attributes, content: string): string =>
  `<${name}${attributes(own)}>${content}</${name}>`;
const attributes = (own: Attributes): string =>
  Object.entries(own)
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${text(String(value))}"`))
    .join('');

function document(content: string): string {
  const response = content ? `<Response>${content}</Response>` : '<Response/>';
  return `<?xml version="1.0" encoding="UTF-8"?>${response}`;
}

/** Characters that XML 1.0 does not allow, not even escaped. */
const NOT_IN_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Any text as XML, in an element or an attribute. */
function text(value: string): string {
  return value
    .replace(NOT_IN_XML, ' ')
    .replace(/[<>&"'\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
