import { DIAL_LIMIT_SECONDS } from '../../platform/carriers/carrier';
import type { Dialect } from '../../platform/carriers/dialects/dialect';
import {
  buildConnectingDial,
  buildVerb,
  element,
  escapeText,
  pickNoun,
} from '../../platform/carriers/twiml-elements';
import { conferenceNoun } from '../../platform/carriers/twilio-conference';
import { isSip } from '../../platform/sip';
import { isRecording } from '../../data/phone/machine-message';
import type { SipHeaders } from '../routing/engine/line';
import { PRESS_ONE_PROMPT, type Instruction } from '../routing/engine/progress';
import { KEY_SECONDS, pickCallerId, pickRingSeconds, type DialedLeg } from './dialed-leg';

export interface CallbackUrls {
  /** Called when a <Dial> is over, whichever side ended it. */
  dial_status: string;
  voicemail: string;
  attempt_status(attempt: string): string;
  whisper(attempt: string): string;
}

export interface TwimlContext {
  dialect: Dialect;
  urls: CallbackUrls;
  /** Said to the caller before a buyer is dialed; null when it was said already. */
  greeting: string | null;
  /** The number of the company that was called: + and digits. */
  number_called: string;
  /** True if neither a greeting nor a buyer has answered the call yet. */
  unanswered: boolean;
}

const VOICEMAIL_SECONDS = 120;
const EVENTS = 'initiated ringing answered completed';

const REJECTED_REASONS = new Set(['blacklisted', 'offer_suppressed']);

/** Without verbs the carrier bridges the call, or hangs up when nothing is left to do. */
export const NOTHING = buildDocument('');
export const HANG_UP = buildDocument('<Hangup/>');
export const REJECT = buildDocument('<Reject/>');

export const messageTwiml = (body: string, statusUrl: string): string =>
  buildDocument(element('Message', { action: statusUrl, method: 'POST' }, escapeText(body)));

export function buildTwiml(
  { action, reason, dial, fallback }: Instruction<DialedLeg>,
  context: TwimlContext,
): string {
  switch (action) {
    case 'dial':
      return buildDocument(say(context.greeting) + buildDial(dial, context));
    case 'fallback':
      return buildDocument(say(fallback!.message) + buildFallback(fallback!, context));
    case 'hang_up':
      return context.unanswered && REJECTED_REASONS.has(reason ?? '') ? REJECT : HANG_UP;
    default:
      return NOTHING;
  }
}

/** Tones for a buyer who has taken the call, before it is bridged. */
export const tonesTwiml = (tones: string | null): string => buildDocument(buildPlay(tones));

const buildPlay = (tones: string | null): string =>
  tones ? element('Play', { digits: halfSeconds(tones) }) : '';

/** `W` waits a second, which the carrier writes as two waits of half a second. */
const halfSeconds = (tones: string): string => tones.replaceAll('W', 'ww');
/** Said to an answering machine. */
export const spokenTwiml = (message: string): string => buildDocument(`${say(message)}<Hangup/>`);

export const connectTwiml = (...connection: Parameters<typeof buildConnectingDial>): string =>
  buildDocument(buildConnectingDial(...connection));

/** For a buyer who must press 1. Without a key the leg ends in <Hangup/>. */
export function whisperTwiml(
  dialect: Dialect,
  keyUrl: string,
  tones: string | null = null,
): string {
  const gather = {
    numDigits: 1,
    timeout: KEY_SECONDS,
    action: keyUrl,
    actionOnEmptyResult: true,
  };
  const content = say(PRESS_ONE_PROMPT);
  const ask = buildVerb(dialect, 'Gather', { values: gather, content });
  return buildDocument(buildPlay(tones) + ask + '<Hangup/>');
}

/** For a caller whose buyer is played keys: both meet in this conference. */
export function conferenceTwiml(name: string, statusUrl: string): string {
  const ofDial = { action: statusUrl, timeLimit: DIAL_LIMIT_SECONDS };
  return buildDocument(element('Dial', ofDial, conferenceNoun(name)));
}

function buildFallback(
  { type, number }: NonNullable<Instruction<DialedLeg>['fallback']>,
  { urls, dialect }: TwimlContext,
): string {
  if (type === 'voicemail') {
    const record = { action: urls.voicemail, maxLength: VOICEMAIL_SECONDS };
    return `${element('Record', record)}<Hangup/>`;
  }
  if (type !== 'number' || !number) return '<Hangup/>';
  return buildVerb(dialect, 'Dial', {
    values: { timeLimit: DIAL_LIMIT_SECONDS, answerOnBridge: true },
    content: element(pickNoun(number), {}, escapeText(number)),
  });
}

function buildDial(dial: readonly DialedLeg[], context: TwimlContext): string {
  const { dialect, urls, number_called } = context;
  const isRecorded =
    dialect.capabilities.record_dial && dial.every(({ record_calls }) => record_calls);
  const values = {
    timeout: pickRingSeconds(dial, dialect.max_ring_seconds),
    callerId: pickCallerId(dial, number_called),
    action: urls.dial_status,
    // Where some buyers are not to be recorded, the one that answers is recorded by itself.
    record: isRecorded ? 'record-from-answer' : undefined,
    timeLimit: DIAL_LIMIT_SECONDS,
    answerOnBridge: true,
  };
  const content = dial.map((leg) => buildLeg(leg, context)).join('');
  return buildVerb(dialect, 'Dial', { values, content });
}

function buildLeg(
  { attempt, number, headers, dtmf_tones, press_one_to_accept }: DialedLeg,
  { dialect: { capabilities }, urls }: TwimlContext,
): string {
  const tones = capabilities.tones ? dtmf_tones : null;
  // Only a telephone number takes tones here; a SIP address gets them when it answers.
  const isAsked = press_one_to_accept || (isSip(number) && tones);
  const ofLeg = {
    sendDigits: !isSip(number) && tones ? halfSeconds(tones) : undefined,
    url: isAsked && capabilities.whisper ? urls.whisper(attempt) : undefined,
    ...(capabilities.leg_callbacks && {
      statusCallback: urls.attempt_status(attempt),
      statusCallbackEvent: EVENTS,
    }),
  };
  const address = isSip(number) ? addHeaders(number, headers) : number;
  return element(pickNoun(number), ofLeg, escapeText(address));
}

/** Carriers take headers of SIP as parameters of an address, and pass on those of customers. */
function addHeaders(address: string, headers: SipHeaders): string {
  const parameters = Object.entries(headers)
    .filter(([name]) => name.startsWith('X-'))
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  if (parameters.length === 0) return address;
  return `${address}${address.includes('?') ? '&' : '?'}${parameters.join('&')}`;
}

/** A text that is the URL of a recording is played. */
function say(words: string | null): string {
  if (!words?.trim()) return '';
  return isRecording(words)
    ? element('Play', {}, escapeText(words.trim()))
    : element('Say', {}, escapeText(words));
}

function buildDocument(content: string): string {
  const response = content ? `<Response>${content}</Response>` : '<Response/>';
  return `<?xml version="1.0" encoding="UTF-8"?>${response}`;
}
