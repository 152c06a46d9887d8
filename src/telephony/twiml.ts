import type { DialBuyer, Instruction } from '../routing/engine/instruction';
import { DIAL_LIMIT_SECONDS } from '../calls/session';

/** What of a buyer goes into the dialing of it. */
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

/** Where the carrier asks what to do next, and tells what has become of those it dials. */
export interface Hooks {
  /** When a <Dial> is over, whoever ended it. */
  dial_status: string;
  voicemail: string;
  attempt_status(attempt: string): string;
  whisper(attempt: string): string;
}

export interface Speaking {
  hooks: Hooks;
  /** What the caller hears before anybody is dialed; null when it has heard it. */
  greeting: string | null;
  /** The number of ours that was called: + and digits. */
  number_called: string;
  /** Whether the call has not been answered yet, by a greeting or by anybody. */
  unanswered: boolean;
}

/** The carrier takes no more nouns in one <Dial>. */
export const MOST_LEGS = 10;
/** The shortest and the longest ring time that the carrier takes, seconds. */
const RING = { least: 5, most: 600 };
const VOICEMAIL_SECONDS = 120;
const KEY_SECONDS = 10;
const EVENTS = 'initiated ringing answered completed';

/** Why a caller is turned away without a word. */
const UNWANTED = new Set(['blacklisted', 'offer_suppressed']);

/** The carrier is to do nothing of its own: it bridges, or hangs up where nothing is left to do. */
export const NOTHING = document('');
export const HANG_UP = document('<Hangup/>');
export const REJECT = document('<Reject/>');

/** What the carrier does with a call as its instruction says. Pure. */
export function twimlOf(
  { action, reason, dial, fallback }: Instruction<DialedLeg>,
  speaking: Speaking,
): string {
  switch (action) {
    case 'dial':
      return document(say(speaking.greeting) + dialOf(dial, speaking));
    case 'fallback':
      return document(say(fallback!.message) + fallbackOf(fallback!, speaking));
    case 'hang_up':
      return speaking.unanswered && UNWANTED.has(reason ?? '') ? REJECT : HANG_UP;
    default:
      return NOTHING;
  }
}

/** What a buyer who must press 1 hears. Silence, and what is no key, end in <Hangup/>. */
export const whisperTwiml = (key_url: string): string =>
  document(
    `<Gather${attributes({ numDigits: 1, timeout: KEY_SECONDS, action: key_url, actionOnEmptyResult: true })}>${say('Press 1 to take this call.')}</Gather><Hangup/>`,
  );

function fallbackOf(
  { type, number }: NonNullable<Instruction<DialedLeg>['fallback']>,
  { hooks }: Speaking,
): string {
  if (type === 'voicemail')
    return `<Record${attributes({ action: hooks.voicemail, maxLength: VOICEMAIL_SECONDS })}/><Hangup/>`;
  if (type !== 'number' || !number) return '<Hangup/>';
  return element(
    'Dial',
    { timeLimit: DIAL_LIMIT_SECONDS, answerOnBridge: true },
    element(nounOf(number), {}, text(number)),
  );
}

function dialOf(dial: readonly DialedLeg[], { hooks, number_called }: Speaking): string {
  const ring = Math.max(...dial.map(({ timeout_seconds }) => timeout_seconds));
  const about = {
    timeout: Math.min(Math.max(ring, RING.least), RING.most),
    callerId: callerIdOf(dial, number_called),
    action: hooks.dial_status,
    record: dial.some(({ record_calls }) => record_calls) ? 'record-from-answer' : undefined,
    timeLimit: DIAL_LIMIT_SECONDS,
    answerOnBridge: true,
  };
  return element(
    'Dial',
    about,
    dial
      .slice(0, MOST_LEGS)
      .map((leg) => legOf(leg, hooks))
      .join(''),
  );
}

/**
 * A <Dial> shows one number to all it rings. Without one the carrier would show the caller's, which some must not see: then, and where they are to
 * see different ones, they see the number that was called.
 */
function callerIdOf(dial: readonly DialedLeg[], number_called: string): string {
  const [shown, ...others] = new Set(dial.map(({ caller_id }) => caller_id));
  return others.length === 0 && shown ? shown : number_called;
}

function legOf(
  { attempt, number, dtmf_tones, press_one_to_accept }: DialedLeg,
  hooks: Hooks,
): string {
  const noun = nounOf(number);
  const about = {
    // Only a telephone number can be sent tones.
    sendDigits: noun === 'Number' && dtmf_tones ? dtmf_tones.replaceAll('W', 'ww') : undefined,
    url: press_one_to_accept ? hooks.whisper(attempt) : undefined,
    statusCallback: hooks.attempt_status(attempt),
    statusCallbackEvent: EVENTS,
  };
  return element(noun, about, text(number));
}

const nounOf = (number: string): 'Sip' | 'Number' => (/^sips?:/i.test(number) ? 'Sip' : 'Number');
const say = (words: string | null): string =>
  words?.trim() ? element('Say', {}, text(words)) : '';

type Attributes = Record<string, string | number | boolean | undefined>;

const element = (name: string, about: Attributes, content: string): string =>
  `<${name}${attributes(about)}>${content}</${name}>`;
const attributes = (about: Attributes): string =>
  Object.entries(about)
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${text(String(value))}"`))
    .join('');

function document(content: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>${content ? `<Response>${content}</Response>` : '<Response/>'}`;
}

/** Characters that XML 1.0 has no place for, not even escaped. */
const UNSPEAKABLE = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Any text as XML, in an element as in an attribute. */
function text(value: string): string {
  return value
    .replace(UNSPEAKABLE, ' ')
    .replace(/[<>&"'\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
