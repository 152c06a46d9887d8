import type { Capabilities, Failure, FailureCode } from '../carrier';
import { trimUrl } from '../../trim-url';
import { isSigned, type SignedParams } from '../signature';

export const DIALECT_NAMES = ['twilio', 'signalwire', 'somleng', 'telnyx'] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

export interface Account {
  account_sid: string;
  auth_token: string;
  base_url: string;
  /** The application that calls are placed by, where the carrier needs one. */
  application_id?: string | undefined;
}

/** A list is sent as several fields of one name. */
export type Fields = Record<string, string | readonly string[] | undefined>;

export interface EncodedFields {
  content_type: string;
  body: string;
}

export interface SignedRequest {
  /** As the carrier was given it, not as a proxy made it. */
  url: string;
  form: SignedParams;
  /** The form as it came; undefined for a body of another type. */
  form_text: string | undefined;
  /** JSON as it came; undefined for a body of another type. */
  json_text?: string | undefined;
  received_at: Date;
  getHeader(name: string): string | undefined;
}

export type Variable = 'TWILIO_BASE_URL' | 'TWILIO_SIGNING_KEY' | 'TELNYX_APPLICATION_ID';

/** How one carrier that speaks TwiML is asked, what it reads, and how it signs. */
export interface Dialect {
  name: DialectName;
  /** For people. */
  label: string;
  capabilities: Capabilities;

  /** Where its REST is; undefined where each customer has another address. */
  base_url: string | undefined;
  /** Settings that it cannot do without, in addition to those that all need. */
  required: readonly Variable[];
  /** `path` as in Twilio's REST: after the account, without .json. */
  buildUrl(account: Account, path: string): string;
  authorize(account: Account): string;
  /** The body of a POST. */
  encode(account: Account, path: string, fields: Fields): EncodedFields;
  /** The header by which a repeated request has no further effect. */
  idempotency_header?: string;
  /** Its own error codes; where absent, those of Twilio. */
  failure_codes?: Record<number, FailureCode>;

  /** Directions of calls and texts that the REST ordered. */
  ordered_directions: readonly string[];
  /** True if an order of a call can bring its TwiML; otherwise the carrier asks for it. */
  takes_twiml: boolean;
  /** Why something cannot be asked for by this REST, and what to do instead. */
  refusals: Partial<Record<'texts' | 'numbers' | 'legs', string>>;

  signature_headers: readonly string[];
  isSigned(request: SignedRequest, key: string): boolean;
  /** Undefined for a key by which signatures can be checked. */
  findKeyFault?(key: string): string | undefined;

  /** Attributes of ours that it does not read. */
  unread: Partial<Record<'Dial' | 'Gather', readonly string[]>>;
  max_ring_seconds: number;
  /** True if the caller's side is only answered when a buyer answers, where nothing is said. */
  answers_with_buyer: boolean;
}

export const ALL_CAPABILITIES: Capabilities = {
  whisper: true,
  tones: true,
  leg_callbacks: true,
  cancel_leg: true,
  record_dial: true,
  record_leg: true,
  voicemail: true,
  conference: true,
  detection: true,
};

export const buildAccountUrl = ({ base_url, account_sid }: Account, prefix: string): string =>
  `${trimUrl(base_url)}${prefix}/Accounts/${encodeURIComponent(account_sid)}`;

export function toParams(fields: Fields): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    for (const item of [value ?? []].flat()) params.append(name, item);
  return params;
}

export const encodeForm = (fields: Fields): EncodedFields => ({
  content_type: 'application/x-www-form-urlencoded',
  body: toParams(fields).toString(),
});

/** How Twilio is spoken to, and those who have copied its REST. */
export const TWILIO_REST = {
  required: [],
  buildUrl: (account, path) => `${buildAccountUrl(account, '/2010-04-01')}/${path}.json`,
  authorize: ({ account_sid, auth_token }) =>
    `Basic ${Buffer.from(`${account_sid}:${auth_token}`).toString('base64')}`,
  encode: (_account, _path, fields) => encodeForm(fields),
  ordered_directions: ['outbound-api'],
  takes_twiml: true,
  refusals: {},
} satisfies Partial<Dialect>;

/** True if one of these headers has the HMAC of URL and form. */
export const isSignedByHmac = (
  headers: readonly string[],
  { url, form, getHeader }: SignedRequest,
  key: string,
): boolean => headers.some((header) => isSigned(key, getHeader(header), url, form));

/** A request that this carrier cannot be asked for: nothing is sent. */
export const toRefusal = ({ label }: Pick<Dialect, 'label'>, reason: string): Failure => ({
  ok: false,
  retryable: false,
  code: 'not_supported',
  message: `${label} ${reason}`,
});
