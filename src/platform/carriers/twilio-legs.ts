import type { ActionResult, Failure, KeyRequest, Leg, Legs } from './carrier';
import { toRefusal, type Fields } from './dialects/dialect';
import { readSid, toUnusable, type Json } from './carrier-api';
import { ask, type Line } from './twilio-api';
import { keysTwiml } from './twilio-conference';
import { CLOCK_SKEW_MS, listRecords, readCreatedAt } from './twilio-lists';
import { toCallStatus } from './twilio-words';

// Requests about calls in progress, and about the legs to single buyers.

interface Service extends Line {
  timeout_ms: number;
}

/**
 * The status `completed` also ends a call that still rings. Calls that have ended cannot be
 * changed.
 */
export async function changeCall(
  service: Service,
  sid: string,
  fields: Fields,
): Promise<ActionResult> {
  const answer = await postTo(service, `Calls/${encodeURIComponent(sid)}`, fields);
  return answer.ok ? { ok: true } : answer;
}

/** `canceled` ends a call that is queued or rings, and changes nothing about one in progress. */
export async function stopRinging(service: Service, sid: string): Promise<ActionResult> {
  if (!service.dialect.capabilities.cancel_leg)
    return toRefusal(service.dialect, 'stops the ringing of no single leg.');
  const answer = await postTo(service, `Calls/${encodeURIComponent(sid)}`, { Status: 'canceled' });
  if (!answer.ok) return answer;
  const status = toCallStatus(String(answer.body.status));
  return status === 'in_progress'
    ? { ok: false, retryable: false, code: 'not_live', message: 'The leg has been answered.' }
    : { ok: true };
}

export async function startRecording(
  service: Service,
  sid: string,
  reportTo: string,
): Promise<ActionResult> {
  if (!service.dialect.capabilities.record_leg)
    return toRefusal(service.dialect, 'records no single leg.');
  const answer = await postTo(service, `Calls/${encodeURIComponent(sid)}/Recordings`, {
    RecordingStatusCallback: reportTo,
    RecordingStatusCallbackEvent: ['completed'],
  });
  return answer.ok ? { ok: true } : answer;
}

export const playKeys = (
  service: Service,
  { leg_id, digits, conference }: KeyRequest,
): Promise<ActionResult> | Failure =>
  service.dialect.capabilities.conference
    ? changeCall(service, leg_id, { Twiml: keysTwiml(digits, conference) })
    : toRefusal(service.dialect, 'plays no keys in a call that it has connected.');

const postTo = (service: Service, path: string, fields: Fields) =>
  ask(service, {
    method: 'POST',
    path,
    fields,
    signal: AbortSignal.timeout(service.timeout_ms),
  });

/** Calls that were never answered cost nothing, and may never get a price. */
const UNANSWERED = ['busy', 'no_answer', 'failed', 'canceled'];

/** Legs to buyers name the call they belong to: a list may have the calls of others as well. */
export async function findLegs(service: Service, sid: string): Promise<Legs> {
  const { refusals } = service.dialect;
  if (refusals.legs) return toRefusal(service.dialect, refusals.legs);
  const signal = AbortSignal.timeout(service.timeout_ms);
  const path = `Calls/${encodeURIComponent(sid)}`;
  const parentAnswer = await ask(service, { method: 'GET', path, fields: {}, signal });
  if (!parentAnswer.ok) return parentAnswer;
  const since = readCreatedAt(parentAnswer.body) - CLOCK_SKEW_MS;
  const filters = { ParentCallSid: sid };
  // An incomplete list of legs would be stored as the final cost.
  const answer = await listRecords(service, {
    path: 'Calls',
    list: 'calls',
    filters,
    since,
    signal,
  });
  if (!answer.ok) return answer;
  const children = answer.records.filter(({ parent_call_sid }) => parent_call_sid === sid);
  const legs = [parentAnswer.body, ...children].map(toLeg);
  return legs.every((leg) => leg !== undefined)
    ? { ok: true, legs }
    : toUnusable('has a call without sid');
}

function toLeg(record: Json): Leg | undefined {
  const { status, price, price_unit } = record;
  const carrierCallId = readSid(record);
  if (carrierCallId === undefined) return undefined;
  const isUnanswered = UNANSWERED.includes(toCallStatus(String(status)) ?? '');
  return {
    carrier_call_id: carrierCallId,
    cost: toCost(price) ?? (isUnanswered ? '0' : null),
    currency: typeof price_unit === 'string' && price_unit ? price_unit.toUpperCase() : 'USD',
  };
}

/** A price is below 0 for a charge. Null for none, or one that is no number. */
export function toCost(price: unknown): string | null {
  const [, sign, amount] = /^([+-]?)(\d{1,7}(?:\.\d{1,10})?)$/.exec(String(price ?? '')) ?? [];
  if (amount === undefined) return null;
  return sign === '-' || Number(amount) === 0 ? amount : `-${amount}`;
}
