export type CarrierName = 'sandbox' | 'twilio';

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
/** Whether a call has ended. */
export const isOver = (status: CallStatus): boolean => !UNDER_WAY.includes(status);

/** What answered a call, as far as a carrier can tell. */
export type AnsweredBy = 'human' | 'machine' | 'fax' | 'unknown';

/** What makes a request safe to repeat. */
export interface Try {
  /** UUID; the same at every try of one request. */
  key: string;
  /** When the first try began that the carrier may have accepted; absent when none was. */
  tried_at?: Date;
  /** The carrier's ids of other requests for the same numbers: an earlier try made none of them. */
  taken?: readonly string[];
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
   * Whether it detects answering machines, and reports them when it asks what to do: at once, or
   * for a message at the end of their greeting. It then asks for a call with `connect_to` too.
   */
  detect_machine?: 'at_once' | 'for_message' | undefined;
  /** How long each of the two telephones rings. */
  timeout_seconds: number;
}

export interface NumberRequest extends Try {
  phone_number: string;
}

/** Why a carrier did not accept a request. */
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
  /** For people. */
  message: string;
}

/** The result of a request to a carrier. */
export type Outcome<Status extends string> =
  | {
      ok: true;
      carrier_id: string;
      status: Status;
      /** Why it was accepted and failed nevertheless. */
      code?: string;
    }
  | Failure;

/** Codes with the same meaning for every carrier. */
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
  /** Numbers to leave out. */
  except?: readonly string[];
}

export type Done = { ok: true } | Failure;

export type Found = { ok: true; numbers: AvailableNumber[] } | Failure;

/** Sends text messages, places calls and sells numbers. Its functions never throw. */
export interface Carrier {
  name: CarrierName;
  /**
   * Responds without leaving the process: many requests may be made inside one transaction, and
   * none can be lost before its result is recorded.
   */
  instant: boolean;
  sendSms(request: SmsRequest): Promise<Outcome<MessageStatus>>;
  placeCall(request: CallRequest): Promise<Outcome<CallStatus>>;
  /**
   * Ends an inbound or outbound call; its last status is reported as usual. A call that has ended
   * is refused as `not_live`. May be repeated.
   */
  endCall(carrier_call_id: string): Promise<Done>;
  searchNumbers(search: NumberSearch): Promise<Found>;
  /** `carrier_id` is the carrier's id of the number. */
  buyNumber(request: NumberRequest): Promise<Outcome<'bought'>>;
  /** Gives a number back. May be repeated: for a number that was given back it succeeds. */
  releaseNumber(carrier_number_id: string): Promise<Done>;
}
