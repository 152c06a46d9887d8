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
/** Whether nothing more comes of a call. */
export const isOver = (status: CallStatus): boolean => !UNDER_WAY.includes(status);

/** What makes a try safe to repeat. */
export interface Try {
  /** UUID; the same at every try of the same thing. */
  key: string;
  /** Set when an earlier try may have got through: when the first such try began. */
  tried_at?: Date;
  /** Carrier ids recorded for other requests of the same numbers: what an earlier try made is looked for among the rest. */
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
  /** Number or sip: address the answered call is connected to. */
  connect_to: string;
  /** How long each of the two telephones rings. */
  timeout_seconds: number;
}

export interface NumberRequest extends Try {
  phone_number: string;
}

/** Why a carrier did not do what it was asked for. */
export interface Failure {
  ok: false;
  /** It may be tried again later. What is not retryable will be refused again. */
  retryable: boolean;
  /** Nobody knows whether this try got through, so the next one needs `tried_at`. Without it nothing was sent. */
  maybe_sent?: boolean;
  /** One of `FAILURE_CODES`, or the carrier's own, such as twilio_21408. */
  code: string;
  /** For people. */
  message: string;
}

/** What a carrier made of a request. */
export type Outcome<Status extends string> =
  | {
      ok: true;
      carrier_id: string;
      status: Status;
      /** Why it was accepted and failed nevertheless. */
      code?: string;
    }
  | Failure;

/** The codes that mean the same at every carrier. */
export const FAILURE_CODES = {
  invalid_number: 'there is no such number',
  not_a_mobile: 'the number takes no text messages',
  opted_out: 'the recipient has told the carrier to be left alone by this sender',
  unreachable: 'the telephone is off or out of reach, or no route leads to it',
  filtered: 'the carrier took the message for spam',
  not_available: 'the number is not for sale, or no longer',
  not_live: 'the call is over',
  unavailable: 'the carrier is down, too busy or too slow',
  unauthorized: 'the carrier does not take the credentials',
  not_found: 'the carrier knows no such address: account or URL are wrong',
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
  /** Toll-free numbers in place of all others. */
  toll_free?: boolean;
  /** What the number begins with: +44161, 0161 and 161 are the same in GB. */
  prefix?: string;
  /** Digits or the letters of a keypad anywhere in the national number, `*` for any one digit. */
  query?: string;
  /** At most 1000; 20 unless told. */
  limit?: number;
  /** Numbers to leave out. */
  except?: readonly string[];
}

/** That it is done, or why not. */
export type Done = { ok: true } | Failure;

export type Found = { ok: true; numbers: AvailableNumber[] } | Failure;

/** Sends texts, places calls, sells numbers. Nothing of it throws. */
export interface Carrier {
  name: CarrierName;
  /** Answers without leaving the process: many may be asked inside one transaction, and none can be lost between asking and recording. */
  instant: boolean;
  sendSms(request: SmsRequest): Promise<Outcome<MessageStatus>>;
  placeCall(request: CallRequest): Promise<Outcome<CallStatus>>;
  /** Ends a call, in or out, by the carrier's id of it; what then becomes of it is told as always. One that is over is refused as `not_live`. May be repeated. */
  endCall(carrier_call_id: string): Promise<Done>;
  searchNumbers(search: NumberSearch): Promise<Found>;
  /** `carrier_id` is the carrier's id of the number. */
  buyNumber(request: NumberRequest): Promise<Outcome<'bought'>>;
  /** Gives a number back, by the carrier's id of it. One that the carrier no longer has is given back already, so this may be repeated. */
  releaseNumber(carrier_number_id: string): Promise<Done>;
}
