import {
  findMaxLegs,
  type ActionResult,
  type CallRequest,
  type CallStatus,
  type Capabilities,
  type Carrier,
  type Failure,
  type Outcome,
} from './carrier';
import { readSid, sendRequest, toUnusable, type Answer, type Json } from './carrier-api';
import { toRefusal } from './dialects/dialect';
import type { Tag } from './jambonz-words';
import { createRefusingCarrier } from './refusing-carrier';
import { toCallStatus } from './jambonz-words';
import { isSameNumber } from './twilio-lists';
import { trimUrl } from '../trim-url';

export interface JambonzOptions {
  /** Where its REST is, such as https://jambonz.example.com/api/v1. */
  base_url: string;
  account_sid: string;
  api_key: string;
  /** The application whose hooks lead here, and which calls are placed by. */
  application_sid: string;
  /** Our own URL for its hooks, such as https://api.example.com. */
  public_url: string;
  /** For one operation, from connecting to the last byte of the response. */
  timeout_ms?: number;
}

export const JAMBONZ_CAPABILITIES: Capabilities = {
  whisper: true,
  tones: true,
  leg_callbacks: true,
  // A leg that rings is not known to its REST, and an order by its sid ends the whole call.
  cancel_leg: false,
  // Audio goes to a WebSocket, to a SIPREC server or to the bucket of the account, and no report
  // says where.
  record_dial: false,
  record_leg: false,
  voicemail: false,
  conference: false,
  detection: true,
};

/** For people: why it is not asked for something. */
export const JAMBONZ_REFUSALS = {
  texts: 'sends no texts',
  numbers: 'sells no numbers; add yours with POST /phone_numbers/import',
  legs: 'has no prices: calls have no cost',
};

const LABEL = { label: 'jambonz' };
const REFUSING = createRefusingCarrier('jambonz', {
  subject: 'This installation calls through jambonz (CARRIER=jambonz)',
  about_calls: 'stops, records and plays keys to no single leg',
});

/**
 * Calls through a jambonz: https://docs.jambonz.org, and its source, which is public. It asks the
 * hooks of the application what to do; a call that we place carries its uuid in a tag, as the
 * hooks of the application take the place of those that an order names.
 */
export function jambonz({ timeout_ms = 5_000, ...options }: JambonzOptions): Carrier {
  const rest: Rest = (method, path, body) => send(options, { method, path, body, timeout_ms });
  return {
    ...REFUSING,
    instant: false,
    max_legs: findMaxLegs('jambonz'),
    capabilities: JAMBONZ_CAPABILITIES,
    refusals: { texts: REFUSING.refusals!.texts },
    placeCall: (request) => placeCall(rest, options, request),
    endCall: (carrierCallId) => endCall(rest, carrierCallId),
    findLegs: async () => toRefusal(LABEL, `${JAMBONZ_REFUSALS.legs}.`),
  };
}

/** `path` is that below the account. */
type Rest = (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) => Promise<Answer>;

interface Order {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  body: object | undefined;
  timeout_ms: number;
}

function send(
  { base_url, account_sid, api_key }: Omit<JambonzOptions, 'timeout_ms'>,
  { method, path, body, timeout_ms }: Order,
): Promise<Answer> {
  const request = {
    url: `${trimUrl(base_url)}/Accounts/${encodeURIComponent(account_sid)}/${path}`,
    method,
    headers: {
      authorization: `Bearer ${api_key}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(timeout_ms),
  };
  return sendRequest(request, (code) => `jambonz_${code}`);
}

async function placeCall(
  rest: Rest,
  options: Omit<JambonzOptions, 'timeout_ms'>,
  { from, to, timeout_seconds, detect_machine, key, tried_at, excludedIds = [] }: CallRequest,
): Promise<Outcome<CallStatus>> {
  if (tried_at) {
    const { application_sid } = options;
    const earlier = await findEarlier(rest, { from, to, application_sid, excludedIds });
    if (!earlier.ok) return { ...earlier, retryable: true, maybe_sent: true };
    if (earlier.record) return toOutcome({ ...earlier.record, sid: earlier.record.call_sid });
  }
  const hooks = `${trimUrl(options.public_url)}/api/v1/telephony/jambonz`;
  const tag: Tag = {
    ...{ key, number: from.replace(/\D/g, '') },
    ...(detect_machine && { detect: detect_machine }),
  };
  const answer = await rest('POST', 'Calls', {
    application_sid: options.application_sid,
    call_hook: { url: `${hooks}/call`, method: 'POST' },
    call_status_hook: { url: `${hooks}/status`, method: 'POST' },
    from,
    to: { type: 'phone', number: to },
    timeout: timeout_seconds,
    tag,
    ...(detect_machine && { amd: { actionHook: `${hooks}/call` } }),
  });
  if (answer.ok) return toOutcome(answer.body);
  // Its lists may lag behind what it did.
  return tried_at && answer.retryable ? { ...answer, maybe_sent: true } : answer;
}

function toOutcome(record: Json): Outcome<CallStatus> {
  const sid = readSid(record);
  if (sid === undefined) return toUnusable('is a call without sid');
  const status = toCallStatus(String(record.call_status ?? 'queued')) ?? 'queued';
  return { ok: true, carrier_id: sid, status };
}

interface Wanted {
  from: string;
  to: string;
  application_sid: string;
  excludedIds: readonly string[];
}

/**
 * The call that an earlier try may have placed. Its list has calls until an hour after their end,
 * with no time and no tag: those of other orders between the two numbers are known by their sids.
 */
async function findEarlier(
  rest: Rest,
  { from, to, application_sid, excludedIds }: Wanted,
): Promise<{ ok: true; record?: Json } | Failure> {
  const query = new URLSearchParams({ direction: 'outbound', to });
  const answer = await rest('GET', `Calls?${query.toString()}`);
  if (!answer.ok) return answer;
  // To treat an unusable list as "none of ours" would place the call twice.
  if (!Array.isArray(answer.body)) return toUnusable('is no list of calls');
  const record = (answer.body as (Json | null)[]).find(
    (call) =>
      call?.direction === 'outbound' &&
      !call.parent_call_sid &&
      call.application_sid === application_sid &&
      isSameNumber(call.from, from) &&
      isSameNumber(call.to, to) &&
      !excludedIds.includes(String(call.call_sid)),
  );
  return { ok: true, ...(record && { record }) };
}

/** `no-answer` ends a call that is not answered yet, and `completed` one that is. */
const END_STATUSES = ['completed', 'no-answer', 'completed'];
/** The call is over, or not in the state for this order. */
const NOT_NOW = 'http_422';

async function endCall(rest: Rest, sid: string): Promise<ActionResult> {
  for (const callStatus of END_STATUSES) {
    const answer = await rest('PUT', `Calls/${encodeURIComponent(sid)}`, {
      call_status: callStatus,
    });
    if (answer.ok) return { ok: true };
    if (answer.code !== NOT_NOW) return answer;
  }
  return { ok: false, retryable: false, code: 'not_live', message: 'The call is over.' };
}
