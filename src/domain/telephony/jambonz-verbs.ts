import { DIAL_LIMIT_SECONDS } from '../../platform/carriers/carrier';
import type { Tag } from '../../platform/carriers/jambonz-words';
import { isSip } from '../../platform/sip';
import { isRecording } from '../../data/phone/machine-message';
import type { SipHeaders } from '../routing/engine/line';
import { PRESS_ONE_PROMPT, type DialBuyer, type Instruction } from '../routing/engine/progress';
import { KEY_SECONDS, pickCallerId, pickRingSeconds, type DialedLeg } from './dialed-leg';

// Instructions as verbs of jambonz: https://docs.jambonz.org/verbs/overview

export interface Verb {
  verb: string;
  [option: string]: unknown;
}

export type JambonzLeg = DialedLeg & Pick<DialBuyer, 'trunk'>;

export interface VerbContext {
  /** uuid of the call. */
  call: string;
  /** Asked what to do when the dialing is over; `trunk`: of the only buyer. */
  buildDialHook(trunk: string | undefined): string;
  /** Asked what to do with a buyer that has answered. */
  buildConfirmHook(attempt: string): string;
  /** Said to the caller before a buyer is dialed; null when it was said already. */
  greeting: string | null;
  /** The number of the company that was called: + and digits. */
  number_called: string;
  /** True if the caller's side is not answered, so that it can be refused. */
  unanswered: boolean;
}

export const HANG_UP: Verb = { verb: 'hangup' };

export const declineVerb = (status: number | null, reason: string | null): Verb => ({
  verb: 'sip:decline',
  status: status ?? 480,
  ...(reason && { reason }),
});

export function buildVerbs(instruction: Instruction<JambonzLeg>, context: VerbContext): Verb[] {
  const { action, dial, fallback, sip_status, sip_reason } = instruction;
  switch (action) {
    case 'dial':
      return [...say(context.greeting), buildDial(dial, context)];
    case 'fallback':
      return [...say(fallback!.message), ...buildFallback(fallback!, context), HANG_UP];
    case 'hang_up':
      return [context.unanswered ? declineVerb(sip_status, sip_reason) : HANG_UP];
    default:
      return [];
  }
}

/** A text that is the URL of a recording is played. */
export function say(words: string | null): Verb[] {
  if (!words?.trim()) return [];
  return isRecording(words)
    ? [{ verb: 'play', url: words.trim() }]
    : [{ verb: 'say', text: words }];
}

/** Without a buyer only a number is left: it records no voicemail. */
const buildFallback = (
  { type, number }: NonNullable<Instruction<JambonzLeg>['fallback']>,
  { number_called }: VerbContext,
): Verb[] =>
  type === 'number' && number ? [connectVerb(number, { number_called, own_caller_id: false })] : [];

interface Connection {
  number_called: string;
  /** True if the destination sees the number of the company in place of the caller's. */
  own_caller_id: boolean;
  timeout_seconds?: number;
}

/** Connects a call to an address that no buyer has. */
export const connectVerb = (
  address: string,
  { number_called, own_caller_id, timeout_seconds }: Connection,
): Verb => ({
  verb: 'dial',
  target: [buildTarget(address)],
  ...(own_caller_id && { callerId: number_called }),
  ...(timeout_seconds !== undefined && { timeout: timeout_seconds }),
  timeLimit: DIAL_LIMIT_SECONDS,
  answerOnBridge: true,
  tag: { number: toDigits(number_called) } satisfies Tag,
});

const toDigits = (number: string): string => number.replace(/\D/g, '');

const buildTarget = (address: string) =>
  isSip(address) ? { type: 'sip', sipUri: address } : { type: 'phone', number: address };

const pickAddress = ({ number, trunk }: Pick<JambonzLeg, 'number' | 'trunk'>): string =>
  trunk?.number ?? number;

function buildDial(dial: readonly JambonzLeg[], context: VerbContext): Verb {
  const [first, ...others] = dial;
  return {
    verb: 'dial',
    target: dial.map((leg) => ({
      ...buildTarget(pickAddress(leg)),
      ...(leg.trunk && { trunk: leg.trunk.name }),
      ...buildHeaders(leg.headers),
      // Statuses come once, at any time: a buyer has a call only when it is known to have it.
      confirmHook: context.buildConfirmHook(leg.attempt),
    })),
    actionHook: context.buildDialHook(others.length === 0 ? first?.trunk?.name : undefined),
    callerId: pickCallerId(dial, context.number_called),
    timeout: pickRingSeconds(dial),
    timeLimit: DIAL_LIMIT_SECONDS,
    answerOnBridge: true,
    tag: buildTag(context, dial),
  };
}

/** jambonz dials the first of two legs to one address. */
function buildTag({ call, number_called }: VerbContext, dial: readonly JambonzLeg[]): Tag {
  const legs: Record<string, string> = {};
  for (const leg of dial) legs[pickAddress(leg)] ??= leg.attempt;
  return { number: toDigits(number_called), call, legs };
}

/** Headers by which jambonz routes and accounts a call: no buyer sets them. */
const OWN_HEADERS =
  /^x-((account|application|call|voip-carrier|requested-carrier)-sid|cid|reason|sip-proxy|override-to|trace-id|record-all-calls|(jambon(z|es)|preferred-from|ms-teams)-.*)$/i;

function buildHeaders(headers: SipHeaders): { headers?: SipHeaders } {
  const own = Object.entries(headers).filter(([name]) => !OWN_HEADERS.test(name));
  return own.length > 0 ? { headers: Object.fromEntries(own) } : {};
}

/** `w` waits half a second, `W` a second. */
export const tonesVerbs = (tones: string | null): Verb[] =>
  (tones?.match(/[wW]|[^wW]+/g) ?? []).map((part) =>
    /^w$/i.test(part)
      ? { verb: 'pause', length: part === 'w' ? 0.5 : 1 }
      : { verb: 'dtmf', dtmf: part },
  );

/** For a buyer who must press 1. Without that key the verb after the question ends the leg. */
export const askForKeyVerbs = (keyHook: string, tones: string | null): Verb[] => [
  ...tonesVerbs(tones),
  {
    verb: 'gather',
    input: ['digits'],
    numDigits: 1,
    timeout: KEY_SECONDS,
    actionHook: keyHook,
    say: { text: PRESS_ONE_PROMPT },
  },
  HANG_UP,
];

/**
 * Takes the place of the verbs that are left, so that a buyer who has pressed 1 is connected when
 * they end. In reply to a question only `say`, `gather`, `config` and `tag` are taken.
 */
export const tagVerb = (tag: Tag): Verb => ({ verb: 'tag', data: tag });

/** Waits for what detects machines, and then asks again, with this tag. */
export const waitVerbs = (seconds: number, tag: Tag, hook: string): Verb[] => [
  { verb: 'pause', length: seconds },
  tagVerb(tag),
  { verb: 'redirect', actionHook: hook },
];
