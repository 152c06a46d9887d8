export type CarrierName = 'jambonz' | 'none' | 'sandbox' | 'softswitch' | 'twilio';

const MAX_LEGS: Record<CarrierName, number> = {
  none: Infinity,
  sandbox: Infinity,
  softswitch: Infinity,
  // Nouns in one <Dial>.
  twilio: 10,
  // Targets of one dial; more are left out.
  jambonz: 10,
};

/** Carriers that dial buyers by themselves, and report how that has ended. */
const DIALS_BY_ITSELF: ReadonlySet<string> = new Set<CarrierName>(['twilio', 'jambonz']);

/**
 * True if a carrier rings all buyers of a round for the same time, and records all of them or none:
 * settings of one buyer must be requested leg by leg.
 */
export const dialsAsOne = (carrier: string): boolean => DIALS_BY_ITSELF.has(carrier);

/** True for a carrier that dials each buyer through the trunk that is named to it. */
export const takesTrunks = (carrier: string): boolean => carrier === 'jambonz';

/**
 * The longest time, in seconds, that a carrier which dials by itself leaves two parties connected:
 * the carrier gets that limit, and may report nothing before. Null for a softswitch, which reports
 * each step.
 */
export const findDialLimit = (carrier: string): number | null =>
  DIALS_BY_ITSELF.has(carrier) ? DIAL_LIMIT_SECONDS : null;

/** How the carrier of a call rings buyers. Absent abilities are there. */
export interface RingRules {
  /** How many ring at once. */
  max_legs: number;
  /** It asks buyers to press 1. */
  can_whisper?: boolean | undefined;
  /** It plays tones to buyers that have answered. */
  can_play_tones?: boolean | undefined;
}

/** The carrier of an installation, as routing sees it. */
export type OwnCarrier = Pick<Carrier, 'name' | 'max_legs' | 'capabilities'>;

/**
 * The rules of the carrier `name`: those of the installation's own if it is that; a softswitch can
 * do everything.
 */
export const findRingRules = (name: string, ownCarrier: OwnCarrier | undefined): RingRules =>
  name === ownCarrier?.name
    ? {
        max_legs: ownCarrier.max_legs,
        can_whisper: ownCarrier.capabilities.whisper,
        can_play_tones: ownCarrier.capabilities.tones,
      }
    : { max_legs: findMaxLegs(name) };

/** Four hours, which is also the limit of Twilio where none is given. */
export const DIAL_LIMIT_SECONDS = 14_400;

/** Calls of the customer's own telephone system, which asks what to do at each step. */
export const SOFTSWITCH = 'softswitch' satisfies CarrierName;

/** A softswitch has no limit. */
export const findMaxLegs = (carrier: string): number =>
  Object.hasOwn(MAX_LEGS, carrier) ? MAX_LEGS[carrier as CarrierName] : Infinity;

export const MESSAGE_STATUSES = [
  'queued',
  'sent',
  'delivered',
  'undelivered',
  'failed',
  'received',
] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

export const CALL_STATUSES = [
  'queued',
  'ringing',
  'in_progress',
  'completed',
  'busy',
  'no_answer',
  'failed',
  'canceled',
] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

const UNDER_WAY: readonly CallStatus[] = ['queued', 'ringing', 'in_progress'];
export const isOver = (status: CallStatus): boolean => !UNDER_WAY.includes(status);

export type AnsweredBy = 'human' | 'machine' | 'fax' | 'unknown';

/** Makes a request safe to repeat. */
export interface Try {
  /** UUID; the same at every try of one request. */
  key: string;
  /** When the first try began that the carrier may have accepted; absent when none was. */
  tried_at?: Date;
  /**
   * The carrier's ids of other requests for the same numbers, which no earlier try of this one
   * made.
   */
  excludedIds?: readonly string[];
}

export interface SmsRequest extends Try {
  from: string;
  to: string;
  body: string;
}

export interface CallRequest extends Try {
  from: string;
  to: string;
  /**
   * Number or sip: address the answered call is connected to. Null: when the call is answered, the
   * carrier asks us what to do.
   */
  connect_to: string | null;
  /**
   * Detects answering machines, and reports them when the carrier asks what to do: at once, or for
   * a message at the end of their greeting. The carrier then asks for a call with `connect_to` too.
   */
  detect_machine?: 'at_once' | 'for_message' | undefined;
  /** How long each of the two telephones rings. */
  timeout_seconds: number;
  /** The switch that is to place it, where the company's own switches do. */
  switch_id?: string | null;
}

export interface NumberRequest extends Try {
  phone_number: string;
}

export interface Failure {
  ok: false;
  /** It may be tried again later. Otherwise it would be refused again. */
  retryable: boolean;
  /**
   * It is not known whether the carrier accepted this try: the next one needs `tried_at`. Absent
   * when nothing was sent.
   */
  maybe_sent?: boolean;
  /** One of `FAILURE_CODES`, or the carrier's own, such as twilio_21408. */
  code: string;
  message: string;
}

export type Outcome<Status extends string> =
  | {
      ok: true;
      carrier_id: string;
      status: Status;
      /** Why it was accepted and failed nevertheless. */
      code?: string;
    }
  | Failure;

export const FAILURE_CODES = {
  invalid_number: 'there is no such number',
  not_a_mobile: 'the number takes no text messages',
  opted_out: 'the recipient has opted out of messages from this sender at the carrier',
  unreachable: 'the telephone is off or out of range, or no route leads to it',
  filtered: 'the carrier filtered the message as spam',
  not_available: 'the number is not for sale, or no longer',
  not_live: 'the call is over',
  unavailable: 'the carrier is down, too busy or too slow',
  unauthorized: 'the carrier rejects the credentials',
  not_found: 'the carrier has no such address: the account or the URL is wrong',
  not_supported: 'this service cannot ask the carrier for that',
} as const;
export type FailureCode = keyof typeof FAILURE_CODES;

export interface AvailableNumber {
  /** + and digits. */
  phone_number: string;
  /** Two letters. */
  country: string;
  toll_free: boolean;
}

export interface NumberSearch {
  /** Two letters. */
  country: string;
  /** True: only toll-free numbers; otherwise only others. */
  toll_free?: boolean;
  /** The first digits: +44161, 0161 and 161 are the same in GB. */
  prefix?: string;
  /** Digits or keypad letters anywhere in the national number, `*` for any one digit. */
  query?: string;
  /** At most 1000; by default 20. */
  limit?: number;
  except?: readonly string[];
}

export type ActionResult = { ok: true } | Failure;

export type NumbersResult = { ok: true; numbers: AvailableNumber[] } | Failure;

/** One connection of a call: that of the caller, or that to a buyer. */
export interface Leg {
  carrier_call_id: string;
  /** Decimal number with at most ten decimals; null until the cost is known. */
  cost: string | null;
  /** Three letters. */
  currency: string;
}

export type Legs = { ok: true; legs: Leg[] } | Failure;

export interface KeyRequest {
  /** The leg of the party that hears them. */
  leg_id: string;
  /** 0 to 9, * and #; w waits half a second. */
  digits: string;
  /** Where that party goes afterwards; the other one must be sent there too. */
  conference: string;
}

/** Parts of a call that not every carrier can do. */
export interface Capabilities {
  /** Asks a buyer that has answered for a key, before it connects the caller. */
  whisper: boolean;
  /** Plays tones to a buyer that has answered. */
  tones: boolean;
  /** Reports what becomes of each leg to a buyer. */
  leg_callbacks: boolean;
  /** Stops the ringing of a leg, and leaves alone one that has been answered. */
  cancel_leg: boolean;
  /** Records all buyers that are dialed together. */
  record_dial: boolean;
  /** Records the leg of one buyer. */
  record_leg: boolean;
  /** Records a caller's message. */
  voicemail: boolean;
  /** Takes a party out of a connection, plays keys to it, and lets it meet the other again. */
  conference: boolean;
  /** Detects answering machines, and says so when it asks what to do. */
  detection: boolean;
}

/** Sends text messages, places calls and sells numbers. Its functions never throw. */
export interface Carrier {
  name: CarrierName;
  /**
   * Responds without leaving the process: many requests may be made inside one transaction, and
   * none can be lost before its result is recorded.
   */
  instant: boolean;
  max_legs: number;
  capabilities: Capabilities;
  /** Why it takes no orders of a kind, in a sentence; absent where it takes them. */
  refusals?: Partial<Record<'calls' | 'texts', string>>;
  sendSms(request: SmsRequest): Promise<Outcome<MessageStatus>>;
  placeCall(request: CallRequest): Promise<Outcome<CallStatus>>;
  /**
   * Ends an inbound or outbound call; its last status is reported as usual. A call that has ended
   * is refused as `not_live`. May be repeated.
   */
  endCall(carrierCallId: string): Promise<ActionResult>;
  /**
   * Stops the ringing of a leg to a buyer. One that has been answered is left alone, and refused as
   * `not_live` like one that has ended. May be repeated.
   */
  stopRinging(legSid: string): Promise<ActionResult>;
  /** Records a leg that was answered, from now on; the recording is reported to `reportTo`. */
  startRecording(legSid: string, reportTo: string): Promise<ActionResult>;
  /**
   * Plays keys to one party of two that are connected, which takes that party out of the connection
   * and into a conference. A leg that has ended is refused as `not_live`.
   */
  playKeys(request: KeyRequest): Promise<ActionResult>;
  /** All legs of a call that has ended, and what each has cost. */
  findLegs(carrierCallId: string): Promise<Legs>;
  searchNumbers(search: NumberSearch): Promise<NumbersResult>;
  /** `carrier_id` is the carrier's id of the number. */
  buyNumber(request: NumberRequest): Promise<Outcome<'bought'>>;
  /** Gives a number back. May be repeated: for a number that was given back it succeeds. */
  releaseNumber(carrierNumberId: string): Promise<ActionResult>;
}
