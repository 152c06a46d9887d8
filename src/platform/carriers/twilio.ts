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
import { trimUrl } from '../trim-url';
import { selectDialect, type DialectChoice } from './dialects';
import { toRefusal, type Fields } from './dialects/dialect';
import { keypadPattern, readLimit, nationalPrefix, pick } from './number-search';
import { readRecords, readSid, toUnusable, type Json } from './carrier-api';
import { ask, type Line } from './twilio-api';
import { buildConnectingDial } from './twiml-elements';
import { changeCall, findLegs, playKeys, startRecording, stopRinging } from './twilio-legs';
import { CLOCK_SKEW_MS, isSameNumber, listRecords, readCreatedAt } from './twilio-lists';
import { toCallStatus, toFailureCode, toMessageStatus } from './twilio-words';

export interface TwilioOptions extends DialectChoice {
  account_sid: string;
  auth_token: string;
  /** By default that of the dialect. */
  base_url?: string | undefined;
  application_id?: string | undefined;
  /** Our own URL for the carrier's callbacks, such as https://api.example.com. */
  public_url: string;
  /** For one operation, from connecting to the last byte of the response. */
  timeout_ms?: number;
}

interface Service extends Line {
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
  base_url,
  application_id,
  public_url,
  timeout_ms = 5_000,
  ...choice
}: TwilioOptions): Carrier {
  const dialect = selectDialect(choice);
  const { capabilities, refusals } = dialect;
  const address = base_url ?? dialect.base_url;
  if (!address) throw new Error(`${dialect.label} needs base_url.`);
  const hooks = `${trimUrl(public_url)}/api/v1/telephony`;
  const service: Service = {
    dialect,
    account: { account_sid, auth_token, base_url: address, application_id },
    timeout_ms,
    hook: (name, key) => `${hooks}/${name}${key ? `?key=${encodeURIComponent(key)}` : ''}`,
  };
  return {
    name: 'twilio',
    instant: false,
    // Where only the end of the dial is reported, it must be clear whose end it is.
    max_legs: capabilities.leg_callbacks ? findMaxLegs('twilio') : 1,
    capabilities,
    sendSms: async (request) =>
      refusals.texts
        ? toRefusal(dialect, refusals.texts)
        : requestOnce(service, smsRequest(service, request)),
    placeCall: (request) => requestOnce(service, callRequest(service, request)),
    endCall: (carrierCallId) => changeCall(service, carrierCallId, { Status: 'completed' }),
    stopRinging: (legSid) => stopRinging(service, legSid),
    startRecording: (legSid, reportTo) => startRecording(service, legSid, reportTo),
    playKeys: async (request) => playKeys(service, request),
    findLegs: (carrierCallId) => findLegs(service, carrierCallId),
    ...sellNumbers(service),
  };
}

function sellNumbers(
  service: Service,
): Pick<Carrier, 'searchNumbers' | 'buyNumber' | 'releaseNumber'> {
  const { dialect } = service;
  const reason = dialect.refusals.numbers;
  if (reason) {
    const refuse = async () => toRefusal(dialect, reason);
    return { searchNumbers: refuse, buyNumber: refuse, releaseNumber: refuse };
  }
  return {
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
    isOurs: (record: Json) => isOrder(service, record, { from, to }) && record.body === body,
    readStatus: (record: Json) => toMessageStatus(String(record.status)) ?? 'queued',
  };
}

function callRequest(
  service: Service,
  { from, to, connect_to, timeout_seconds, detect_machine, ...rest }: CallRequest,
) {
  const { takes_twiml, capabilities } = service.dialect;
  const detection = capabilities.detection && detect_machine && DETECTION[detect_machine];
  const canBringTwiml = connect_to !== null && !detection && takes_twiml;
  return {
    ...rest,
    path: 'Calls',
    fields: {
      To: to,
      From: from,
      ...(canBringTwiml
        ? { Twiml: buildTwiml(service, { connect_to, from, timeout_seconds }) }
        : { Url: service.hook('answer', rest.key) }),
      MachineDetection: detection || undefined,
      Timeout: String(timeout_seconds),
      StatusCallback: service.hook('call_status', rest.key),
      StatusCallbackEvent: CALL_EVENTS,
    },
    lookup: { To: to, From: from },
    list: 'calls',
    isOurs: (record: Json) => isOrder(service, record, { from, to }),
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
const isOrder = (
  { dialect }: Service,
  record: Json,
  { from, to }: { from: string; to: string },
): boolean =>
  dialect.ordered_directions.includes(String(record.direction)) &&
  isSameNumber(record.from, from) &&
  isSameNumber(record.to, to);

const buildTwiml = (
  { dialect }: Service,
  connection: { connect_to: string; from: string; timeout_seconds: number },
): string => `<Response>${buildConnectingDial(dialect, connection)}</Response>`;

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
    if (earlier.record) return toOutcome(service, earlier.record, request);
  }
  const { path, fields, key } = request;
  const startedAt = new Date();
  const answer = await ask(service, { method: 'POST', path, fields, key, signal });
  if (answer.ok) {
    if (findId(answer.body) !== undefined) return toOutcome(service, answer.body, request);
    // An answer may say that the order was accepted, and not by which name.
    const accepted = await findEarlier(service, request, startedAt, signal);
    return toOutcome(service, (accepted.ok && accepted.record) || answer.body, request);
  }
  // The carrier's lists may lag behind what it did.
  return request.tried_at && answer.retryable ? { ...answer, maybe_sent: true } : answer;
}

/**
 * The record of an earlier try. Looks without a date among the newest records: DateSent and
 * StartTime, the only dates that lists can be filtered by, are empty while a message or call is
 * still queued.
 */
async function findEarlier<Status extends string>(
  service: Service,
  { path, lookup, key, list, excludedIds = [], isOurs }: OnceRequest<Status>,
  triedAt: Date,
  signal: AbortSignal,
): Promise<{ ok: true; record?: Json } | Failure> {
  const since = triedAt.getTime() - CLOCK_SKEW_MS;
  // Treating an unusable list as "none of ours" would send the request twice.
  const answer = await listRecords(service, { path, list, filters: lookup, since, key, signal });
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

const findId = (record: Json): string | undefined =>
  readSid(record) ?? readSid({ sid: record.call_sid });

function toOutcome<Status extends string>(
  { dialect }: Service,
  record: Json,
  { readStatus }: OnceRequest<Status>,
): Outcome<Status> {
  const sid = findId(record);
  if (sid === undefined) return toUnusable('is a record without sid');
  const code = record.error_code ? toFailureCode(String(record.error_code), dialect) : undefined;
  return { ok: true, carrier_id: sid, status: readStatus(record), ...(code && { code }) };
}

async function searchNumbers(service: Service, search: NumberSearch): Promise<NumbersResult> {
  const { country, toll_free = false } = search;
  const kind = toll_free ? 'TollFree' : 'Local';
  const path = `AvailablePhoneNumbers/${encodeURIComponent(country)}/${kind}`;
  const signal = AbortSignal.timeout(service.timeout_ms);
  const answer = await ask(service, {
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
  const answer = await ask(service, { method: 'DELETE', path, fields: {}, signal });
  if (answer.ok || answer.code !== 'not_found') return answer.ok ? { ok: true } : answer;
  // A wrong account or address does not have the number either: the number was given back only
  // when the account's other numbers are found.
  const numbersAnswer = await ask(service, {
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
