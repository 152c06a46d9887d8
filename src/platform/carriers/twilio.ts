import {
  findMaxLegs,
  type AvailableNumber,
  type CallRequest,
  type Carrier,
  type ActionResult,
  type Failure,
  type NumbersResult,
  type NumberRequest,
  type NumberSearch,
  type Outcome,
  type SmsRequest,
  type Try,
} from './carrier';
import { keypadPattern, readLimit, nationalPrefix, pick } from './number-search';
import {
  ask,
  readRecords,
  readSid,
  toUnusable,
  type Account,
  type Fields,
  type Json,
} from './twilio-api';
import { keysTwiml } from './twilio-conference';
import { changeCall, findLegs, startRecording, stopRinging } from './twilio-legs';
import { CLOCK_SKEW_MS, isSameNumber, listRecords, readCreatedAt } from './twilio-lists';
import { toCallStatus, toFailureCode, toMessageStatus } from './twilio-words';

export interface TwilioOptions {
  account_sid: string;
  auth_token: string;
  /** By default Twilio's own; any service with its API works. */
  base_url?: string;
  /** Our own URL for the carrier's callbacks, such as https://api.example.com. */
  public_url: string;
  /** True if it runs the `url` of a <Number> before it connects the caller; by default it does. */
  can_whisper?: boolean;
  /** For one operation, from connecting to the last byte of the response. */
  timeout_ms?: number;
}

interface Service {
  account: Account;
  timeout_ms: number;
  hook(name: string, key?: string): string;
}

/** A request that must take effect at most once. */
interface OnceRequest<Status extends string> extends Try {
  path: string;
  fields: Fields;
  /** Fields that find the records which an earlier try may have made. */
  lookup: Fields;
  list: string;
  isOurs(record: Json): boolean;
  readStatus(record: Json): Status;
}

const E164 = /^\+[1-9]\d{6,14}$/;
const NUMBERS = 'IncomingPhoneNumbers';
const DETECTION = { at_once: 'Enable', for_message: 'DetectMessageEnd' };
const CALL_EVENTS = ['initiated', 'ringing', 'answered', 'completed'];

export function twilio({
  account_sid,
  auth_token,
  base_url = 'https://api.twilio.com',
  public_url,
  can_whisper = true,
  timeout_ms = 5_000,
}: TwilioOptions): Carrier {
  const hooks = `${public_url.replace(/(?<!\/)\/+$/, '')}/api/v1/telephony`;
  const service: Service = {
    account: { account_sid, auth_token, base_url },
    timeout_ms,
    hook: (name, key) => `${hooks}/${name}${key ? `?key=${encodeURIComponent(key)}` : ''}`,
  };
  return {
    name: 'twilio',
    instant: false,
    max_legs: findMaxLegs('twilio'),
    can_whisper,
    sendSms: (request) => requestOnce(service, smsRequest(service, request)),
    placeCall: (request) => requestOnce(service, callRequest(service, request)),
    endCall: (carrierCallId) => changeCall(service, carrierCallId, { Status: 'completed' }),
    stopRinging: (legSid) => stopRinging(service, legSid),
    startRecording: (legSid, reportTo) => startRecording(service, legSid, reportTo),
    playKeys: ({ leg_id, digits, conference }) =>
      changeCall(service, leg_id, { Twiml: keysTwiml(digits, conference) }),
    findLegs: (carrierCallId) => findLegs(service, carrierCallId),
    searchNumbers: (search) => searchNumbers(service, search),
    buyNumber: (request) => requestOnce(service, numberRequest(service, request)),
    releaseNumber: (carrierNumberId) => releaseNumber(service, carrierNumberId),
  };
}

function smsRequest(service: Service, { from, to, body, ...rest }: SmsRequest) {
  return {
    ...rest,
    path: 'Messages',
    fields: {
      To: to,
      From: from,
      Body: body,
      StatusCallback: service.hook('message_status', rest.key),
    },
    lookup: { To: to, From: from },
    list: 'messages',
    isOurs: (record: Json) => isOrder(record, { from, to }) && record.body === body,
    readStatus: (record: Json) => toMessageStatus(String(record.status)) ?? 'queued',
  };
}

function callRequest(
  service: Service,
  { from, to, connect_to, timeout_seconds, detect_machine, ...rest }: CallRequest,
) {
  return {
    ...rest,
    path: 'Calls',
    fields: {
      To: to,
      From: from,
      ...(connect_to !== null && !detect_machine
        ? { Twiml: connectingTwiml(from, connect_to, timeout_seconds) }
        : { Url: service.hook('answer', rest.key) }),
      MachineDetection: detect_machine && DETECTION[detect_machine],
      Timeout: String(timeout_seconds),
      StatusCallback: service.hook('call_status', rest.key),
      StatusCallbackEvent: CALL_EVENTS,
    },
    lookup: { To: to, From: from },
    list: 'calls',
    isOurs: (record: Json) => isOrder(record, { from, to }),
    readStatus: (record: Json) => toCallStatus(String(record.status)) ?? 'queued',
  };
}

function numberRequest(service: Service, { phone_number, ...rest }: NumberRequest) {
  return {
    ...rest,
    path: NUMBERS,
    fields: {
      PhoneNumber: phone_number,
      SmsUrl: service.hook('sms'),
      VoiceUrl: service.hook('voice'),
      StatusCallback: service.hook('voice_status'),
    },
    lookup: { PhoneNumber: phone_number },
    list: 'incoming_phone_numbers',
    // The lookup also finds numbers that contain this one.
    isOurs: (record: Json) => record.phone_number === phone_number,
    readStatus: () => 'bought' as const,
  };
}

/**
 * True for an order of ours between these numbers. A text or call between two numbers of one
 * account has an incoming record as well.
 */
const isOrder = (record: Json, { from, to }: { from: string; to: string }): boolean =>
  record.direction === 'outbound-api' &&
  isSameNumber(record.from, from) &&
  isSameNumber(record.to, to);

/** Shows the number that the call was placed from. */
function connectingTwiml(from: string, connectTo: string, timeoutSeconds: number): string {
  const noun = /^sips?:/i.test(connectTo) ? 'Sip' : 'Number';
  const attributes = `callerId="${escapeXml(from)}" timeout="${timeoutSeconds}"`;
  const dial = `<Dial answerOnBridge="true" ${attributes}>`;
  return `<Response>${dial}<${noun}>${escapeXml(connectTo)}</${noun}></Dial></Response>`;
}

const escapeXml = (text: string): string =>
  text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);

/**
 * Twilio repeats a request that it receives twice. When an earlier try may have been accepted, this
 * first looks for the record which that one made.
 */
async function requestOnce<Status extends string>(
  service: Service,
  request: OnceRequest<Status>,
): Promise<Outcome<Status>> {
  const signal = AbortSignal.timeout(service.timeout_ms);
  if (request.tried_at) {
    const earlier = await findEarlier(service, request, request.tried_at, signal);
    if (!earlier.ok) return { ...earlier, retryable: true, maybe_sent: true };
    if (earlier.record) return toOutcome(earlier.record, request);
  }
  const { path, fields, key } = request;
  const answer = await ask(service.account, { method: 'POST', path, fields, key, signal });
  if (answer.ok) return toOutcome(answer.body, request);
  // The carrier's lists may lag behind what it did.
  return request.tried_at && answer.retryable ? { ...answer, maybe_sent: true } : answer;
}

/**
 * The record of an earlier try. Looks without a date among the newest records: DateSent and
 * StartTime, the only dates that lists can be filtered by, are empty while a message or call is
 * still queued.
 */
async function findEarlier<Status extends string>(
  { account }: Service,
  { path, lookup, key, list, excludedIds = [], isOurs }: OnceRequest<Status>,
  triedAt: Date,
  signal: AbortSignal,
): Promise<{ ok: true; record?: Json } | Failure> {
  const since = triedAt.getTime() - CLOCK_SKEW_MS;
  // Treating an unusable list as "none of ours" would send the request twice.
  const answer = await listRecords(account, { path, list, filters: lookup, since, key, signal });
  if (!answer.ok) return answer;
  const records = answer.records
    .filter(
      (record) =>
        isOurs(record) &&
        !excludedIds.includes(String(record.sid)) &&
        readCreatedAt(record) >= since,
    )
    .sort((a, b) => readCreatedAt(a) - readCreatedAt(b));
  return { ok: true, record: records[0] };
}

function toOutcome<Status extends string>(
  record: Json,
  { readStatus }: OnceRequest<Status>,
): Outcome<Status> {
  const sid = readSid(record);
  if (sid === undefined) return toUnusable('is a record without sid');
  const code = record.error_code ? toFailureCode(String(record.error_code)) : undefined;
  return { ok: true, carrier_id: sid, status: readStatus(record), ...(code && { code }) };
}

async function searchNumbers(service: Service, search: NumberSearch): Promise<NumbersResult> {
  const { country, toll_free = false } = search;
  const kind = toll_free ? 'TollFree' : 'Local';
  const path = `AvailablePhoneNumbers/${encodeURIComponent(country)}/${kind}`;
  const signal = AbortSignal.timeout(service.timeout_ms);
  const answer = await ask(service.account, {
    method: 'GET',
    path,
    fields: searchFields(search),
    signal,
  });
  // The carrier sells nothing of this kind in this country.
  if (!answer.ok) return answer.code === 'not_found' ? { ok: true, numbers: [] } : answer;
  const records = readRecords(answer.body, 'available_phone_numbers');
  if (!records) return toUnusable('has no list of numbers');
  const numbers = records.flatMap(({ phone_number }): AvailableNumber[] =>
    typeof phone_number === 'string' && E164.test(phone_number)
      ? [{ phone_number, country, toll_free }]
      : [],
  );
  return { ok: true, numbers: pick(numbers, search) };
}

async function releaseNumber(service: Service, sid: string): Promise<ActionResult> {
  const signal = AbortSignal.timeout(service.timeout_ms);
  const path = `${NUMBERS}/${encodeURIComponent(sid)}`;
  const answer = await ask(service.account, { method: 'DELETE', path, fields: {}, signal });
  if (answer.ok || answer.code !== 'not_found') return answer.ok ? { ok: true } : answer;
  // A wrong account or address does not have the number either: the number was given back only
  // when the account's other numbers are found.
  const numbersAnswer = await ask(service.account, {
    method: 'GET',
    path: NUMBERS,
    fields: { PageSize: '1' },
    signal,
  });
  return numbersAnswer.ok ? { ok: true } : numbersAnswer;
}

/**
 * `Contains` finds digits anywhere, and only North American area codes can be searched for: the
 * results are filtered again.
 */
function searchFields(search: NumberSearch): Fields {
  const prefix = nationalPrefix(search);
  const query = keypadPattern(search);
  const area =
    ['US', 'CA'].includes(search.country) && prefix.length >= 3 ? prefix.slice(0, 3) : undefined;
  const contains = [query, prefix].find((pattern) => pattern.length >= 2 && pattern !== area);
  return { AreaCode: area, Contains: contains, PageSize: String(readLimit(search)) };
}
