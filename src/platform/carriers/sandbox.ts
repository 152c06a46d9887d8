import { findMaxLegs } from './carrier';
import type {
  AnsweredBy,
  AvailableNumber,
  CallStatus,
  Carrier,
  Failure,
  FailureCode,
  MessageStatus,
  Outcome,
} from './carrier';
import { ALL_CAPABILITIES } from './dialects/dialect';
import { fictionNumbers } from './inventory';
import { pick } from './number-search';

type Ending<Status> =
  { status: Status; code?: FailureCode } | { code: FailureCode; retryable?: true };

export interface MagicNumber {
  /** For the documentation. */
  meaning: string;
  sms?: Ending<MessageStatus>;
  call?: Ending<CallStatus>;
  answered_by?: AnsweredBy;
}

/**
 * Behavior of the sandbox for a number +1 NPA 555 01xx, by its last four digits. Every other number
 * answers calls and receives texts.
 */
export const MAGIC_NUMBERS: Record<string, MagicNumber> = {
  '0101': {
    meaning: 'There is no such number: refused.',
    sms: { code: 'invalid_number' },
    call: { code: 'invalid_number' },
  },
  '0102': {
    meaning: 'A landline: texts are refused, calls go through.',
    sms: { code: 'not_a_mobile' },
  },
  '0103': {
    meaning: 'The recipient has replied STOP: texts are refused, calls go through.',
    sms: { code: 'opted_out' },
  },
  '0104': {
    meaning: 'The carrier is down: nothing is sent, and the request is retried.',
    sms: { code: 'unavailable', retryable: true },
    call: { code: 'unavailable', retryable: true },
  },
  '0105': { meaning: 'The line is busy.', call: { status: 'busy' } },
  '0106': { meaning: 'Calls are not answered.', call: { status: 'no_answer' } },
  '0107': {
    meaning: 'Texts are accepted but do not arrive; calls fail.',
    sms: { status: 'undelivered', code: 'unreachable' },
    call: { status: 'failed', code: 'unreachable' },
  },
  '0108': {
    meaning: 'Texts are accepted and filtered as spam; calls go through.',
    sms: { status: 'undelivered', code: 'filtered' },
  },
  '0109': { meaning: 'An answering machine answers calls.', answered_by: 'machine' },
};

const findMagicNumber = (to: string): MagicNumber | undefined =>
  MAGIC_NUMBERS[/^\+1[2-9]\d\d555(01\d\d)$/.exec(to)?.[1] ?? ''];

const NO_CALLS: Failure = {
  ok: false,
  retryable: false,
  code: 'not_live',
  message: 'The sandbox has no calls in progress.',
};
/** Result of a call to a number, such as a person's or a buyer's. */
export function sandboxCall(to: string): { status: CallStatus; answered_by: AnsweredBy } {
  const magic = findMagicNumber(to);
  const ending = magic?.call;
  const status = ending && 'status' in ending ? ending.status : undefined;
  return {
    status: status ?? (ending ? 'failed' : 'completed'),
    answered_by: magic?.answered_by ?? 'human',
  };
}

/** A carrier that sends nothing and stores nothing: its response depends on the request alone. */
export function sandbox(): Carrier {
  let stock: AvailableNumber[] | undefined;
  const inventory = () => (stock ??= fictionNumbers());
  return {
    name: 'sandbox',
    instant: true,
    max_legs: findMaxLegs('sandbox'),
    capabilities: ALL_CAPABILITIES,
    sendSms: async ({ key, to }) =>
      buildOutcome<MessageStatus>(key, findMagicNumber(to)?.sms ?? { status: 'delivered' }),
    placeCall: async ({ key, to, connect_to, detect_machine }) =>
      buildOutcome<CallStatus>(
        key,
        findMagicNumber(to)?.call ?? {
          // Events after the answer are played by domain/telephony/play-sandbox-call.ts.
          status: connect_to === null || detect_machine ? 'ringing' : 'completed',
        },
      ),
    // Calls of the sandbox have ended by the time it responds.
    endCall: async () => NO_CALLS,
    stopRinging: async () => NO_CALLS,
    startRecording: async () => NO_CALLS,
    playKeys: async () => NO_CALLS,
    // The sandbox charges nothing, and is never asked for costs.
    findLegs: async () => ({ ok: true, legs: [] }),
    searchNumbers: async (search) => ({ ok: true, numbers: pick(inventory(), search) }),
    buyNumber: async ({ key, phone_number }) =>
      buildOutcome(
        key,
        inventory().some((number) => number.phone_number === phone_number)
          ? { status: 'bought' }
          : { code: 'not_available' },
      ),
    releaseNumber: async () => ({ ok: true }),
  };
}

function buildOutcome<Status extends string>(key: string, ending: Ending<Status>): Outcome<Status> {
  if ('status' in ending)
    return { ok: true, carrier_id: `SB${key.replaceAll('-', '')}`, ...ending };
  return {
    ok: false,
    retryable: ending.retryable ?? false,
    code: ending.code,
    message: `The sandbox was given a number that means: ${ending.code}.`,
  };
}
