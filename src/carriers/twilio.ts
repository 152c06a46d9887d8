import type {
  AvailableNumber,
  CallRequest,
  Carrier,
  Done,
  Failure,
  Found,
  NumberRequest,
  NumberSearch,
  Outcome,
  SmsRequest,
  Try,
} from './carrier';
import { keypadPattern, limitOf, nationalPrefix, pick } from './number-search';
import { ask, type Account, type Fields, type Json } from './twilio-api';
import { callStatusOf, failureCodeOf, messageStatusOf } from './twilio-words';

export interface TwilioOptions {
  account_sid: string;
  auth_token: string;
  /** Twilio's own unless told: any service that speaks its REST will do. */
  base_url?: string;
  /** Where the carrier reaches us, such as https://api.example.com. */
  public_url: string;
  /** For all of one operation, from connecting to the last byte of the answer. */
  timeout_ms?: number;
}

interface Line {
  account: Account;
  timeout_ms: number;
  /** Our URL for the carrier to call. */
  hook(name: string, key?: string): string;
}

/** One thing to have done at most once. */
interface Errand<Status extends string> extends Try {
  path: string;
  fields: Fields;
  /** Finds the records among which one of an earlier try would be. */
  lookup: Fields;
  list: string;
  isOurs(record: Json): boolean;
  statusOf(record: Json): Status;
}

/** The clocks of the two sides differ, and the carrier's times are whole seconds. */
const CLOCK_SKEW_MS = 5_000;
const MOST_RECORDS = '1000';
const NUMBERS = 'IncomingPhoneNumbers';
const CALL_EVENTS = ['initiated', 'ringing', 'answered', 'completed'];

/** Twilio, or a service that speaks its REST. */
export function twilio({
  account_sid,
  auth_token,
  base_url = 'https://api.twilio.com',
  public_url,
  timeout_ms = 5_000,
}: TwilioOptions): Carrier {
  const hooks = `${public_url.replace(/\/+$/, '')}/api/v1/telephony`;
  const line: Line = {
    account: { account_sid, auth_token, base_url },
    timeout_ms,
    hook: (name, key) => `${hooks}/${name}${key ? `?key=${encodeURIComponent(key)}` : ''}`,
  };
  return {
    name: 'twilio',
    instant: false,
    sendSms: (request) => once(line, smsErrand(line, request)),
    placeCall: (request) => once(line, callErrand(line, request)),
    endCall: (carrier_call_id) => endCall(line, carrier_call_id),
    searchNumbers: (search) => searchNumbers(line, search),
    buyNumber: (request) => once(line, numberErrand(line, request)),
    releaseNumber: (carrier_number_id) => releaseNumber(line, carrier_number_id),
  };
}

function smsErrand(line: Line, { from, to, body, ...rest }: SmsRequest) {
  return {
    ...rest,
    path: 'Messages',
    fields: {
      To: to,
      From: from,
      Body: body,
      StatusCallback: line.hook('message_status', rest.key),
    },
    lookup: { To: to, From: from },
    list: 'messages',
    isOurs: (record: Json) => isOutgoing(record) && record.body === body,
    statusOf: (record: Json) => messageStatusOf(String(record.status)) ?? 'queued',
  };
}

function callErrand(line: Line, { from, to, connect_to, timeout_seconds, ...rest }: CallRequest) {
  return {
    ...rest,
    path: 'Calls',
    fields: {
      To: to,
      From: from,
      Twiml: connectingTwiml(from, connect_to, timeout_seconds),
      Timeout: String(timeout_seconds),
      StatusCallback: line.hook('call_status', rest.key),
      StatusCallbackEvent: CALL_EVENTS,
    },
    lookup: { To: to, From: from },
    list: 'calls',
    isOurs: isOutgoing,
    statusOf: (record: Json) => callStatusOf(String(record.status)) ?? 'queued',
  };
}

function numberErrand(line: Line, { phone_number, ...rest }: NumberRequest) {
  return {
    ...rest,
    path: NUMBERS,
    fields: {
      PhoneNumber: phone_number,
      SmsUrl: line.hook('sms'),
      VoiceUrl: line.hook('voice'),
      StatusCallback: line.hook('voice_status'),
    },
    lookup: { PhoneNumber: phone_number },
    list: 'incoming_phone_numbers',
    // The lookup finds parts of numbers too.
    isOurs: (record: Json) => record.phone_number === phone_number,
    statusOf: () => 'bought' as const,
  };
}

/** Made by a request like ours: between two numbers of one account the same text or call is there as an incoming one as well. */
const isOutgoing = ({ direction }: Json): boolean => direction === 'outbound-api';

/** What is said to an answered call: connect it, under the number it was placed from. */
function connectingTwiml(from: string, connect_to: string, timeout_seconds: number): string {
  const noun = /^sips?:/i.test(connect_to) ? 'Sip' : 'Number';
  const dial = `<Dial answerOnBridge="true" callerId="${escapeXml(from)}" timeout="${timeout_seconds}">`;
  return `<Response>${dial}<${noun}>${escapeXml(connect_to)}</${noun}></Dial></Response>`;
}

const escapeXml = (text: string): string =>
  text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Twilio repeats whatever it is asked twice, so a try after one that may have got through first looks for what that one made. */
async function once<Status extends string>(
  line: Line,
  errand: Errand<Status>,
): Promise<Outcome<Status>> {
  const signal = AbortSignal.timeout(line.timeout_ms);
  if (errand.tried_at) {
    const earlier = await findEarlier(line, errand, errand.tried_at, signal);
    if (!earlier.ok) return { ...earlier, retryable: true, maybe_sent: true };
    if (earlier.record) return outcomeOf(earlier.record, errand);
  }
  const { path, fields, key } = errand;
  const answer = await ask(line.account, { method: 'POST', path, fields, key, signal });
  if (answer.ok) return outcomeOf(answer.body, errand);
  // The list the carrier was asked for may lag behind what it did.
  return errand.tried_at && answer.retryable ? { ...answer, maybe_sent: true } : answer;
}

/**
 * Looks without a date among the newest records: DateSent and StartTime, the only ones a list can be asked for, are empty while a message or call
 * is still queued.
 */
async function findEarlier<Status extends string>(
  line: Line,
  { path, lookup, key, list, taken = [], isOurs }: Errand<Status>,
  tried_at: Date,
  signal: AbortSignal,
): Promise<{ ok: true; record?: Json } | Failure> {
  const answer = await ask(line.account, {
    method: 'GET',
    path,
    fields: { ...lookup, PageSize: MOST_RECORDS },
    key,
    signal,
  });
  if (!answer.ok) return answer;
  const createdAt = (record: Json) => Date.parse(String(record.date_created));
  const records = recordsOf(answer.body, list)
    .filter(
      (record) =>
        isOurs(record) &&
        !taken.includes(String(record.sid)) &&
        createdAt(record) >= tried_at.getTime() - CLOCK_SKEW_MS,
    )
    .sort((a, b) => createdAt(a) - createdAt(b));
  return { ok: true, record: records[0] };
}

function outcomeOf<Status extends string>(
  record: Json,
  { statusOf }: Errand<Status>,
): Outcome<Status> {
  if (typeof record.sid !== 'string')
    return {
      ok: false,
      retryable: true,
      maybe_sent: true,
      code: 'unavailable',
      message: 'The carrier answered a record without sid.',
    };
  const code = record.error_code ? failureCodeOf(String(record.error_code)) : undefined;
  return { ok: true, carrier_id: record.sid, status: statusOf(record), ...(code && { code }) };
}

const recordsOf = (body: Json, list: string): Json[] =>
  Array.isArray(body[list]) ? (body[list] as Json[]) : [];

async function searchNumbers(line: Line, search: NumberSearch): Promise<Found> {
  const { country, toll_free = false } = search;
  const path = `AvailablePhoneNumbers/${encodeURIComponent(country)}/${toll_free ? 'TollFree' : 'Local'}`;
  const signal = AbortSignal.timeout(line.timeout_ms);
  const answer = await ask(line.account, {
    method: 'GET',
    path,
    fields: searchFields(search),
    signal,
  });
  // The carrier sells nothing of this kind in this country.
  if (!answer.ok) return answer.code === 'not_found' ? { ok: true, numbers: [] } : answer;
  const numbers = recordsOf(answer.body, 'available_phone_numbers').map(
    ({ phone_number }): AvailableNumber => ({
      phone_number: String(phone_number),
      country,
      toll_free,
    }),
  );
  return { ok: true, numbers: pick(numbers, search) };
}

/** `completed` ends a call also while it rings. The carrier knows no call that it has not had, and takes no change of one that is over. */
async function endCall(line: Line, sid: string): Promise<Done> {
  const signal = AbortSignal.timeout(line.timeout_ms);
  const answer = await ask(line.account, {
    method: 'POST',
    path: `Calls/${encodeURIComponent(sid)}`,
    fields: { Status: 'completed' },
    signal,
  });
  return answer.ok ? { ok: true } : answer;
}

async function releaseNumber(line: Line, sid: string): Promise<Done> {
  const signal = AbortSignal.timeout(line.timeout_ms);
  const path = `${NUMBERS}/${encodeURIComponent(sid)}`;
  const answer = await ask(line.account, { method: 'DELETE', path, fields: {}, signal });
  if (answer.ok || answer.code !== 'not_found') return answer.ok ? { ok: true } : answer;
  // A wrong account or address knows no such number either: only one that answers for its other numbers has given this one back.
  const known = await ask(line.account, {
    method: 'GET',
    path: NUMBERS,
    fields: { PageSize: '1' },
    signal,
  });
  return known.ok ? { ok: true } : known;
}

/** `Contains` finds its digits anywhere, and only American area codes can be asked for: what is found is picked over once more. */
function searchFields(search: NumberSearch): Fields {
  const prefix = nationalPrefix(search);
  const query = keypadPattern(search);
  const area =
    ['US', 'CA'].includes(search.country) && prefix.length >= 3 ? prefix.slice(0, 3) : undefined;
  const contains = [query, prefix].find((pattern) => pattern.length >= 2 && pattern !== area);
  return { AreaCode: area, Contains: contains, PageSize: String(limitOf(search)) };
}
