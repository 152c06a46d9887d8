import { readNumberOrigin } from '../../data/phone/number-zones';
import { ownTokens, type TokenSource } from '../../platform/tokens/substitute';
import { withOrigin, type Origin } from '../../platform/tokens/system';
import { RECORDS, type RecordName } from './readable-events';

export const MAX_BODY_BYTES = 20_000;

export type PayloadRecords = Readonly<Partial<Record<RecordName, string | null>>>;

export interface PayloadEvent extends PayloadRecords {
  kind: string;
  /** ISO 8601. */
  occurred_at: string;
  offer_name?: string | null;
}

const LARGE: ReadonlySet<RecordName> = new Set(['lead', 'call']);

/**
 * The default body of a request. When it would be too large, the lead and the call are truncated.
 */
export function buildPayload(event: PayloadEvent): string {
  const whole = assemblePayload(event, (_, json) => json);
  return Buffer.byteLength(whole) <= MAX_BODY_BYTES
    ? whole
    : assemblePayload(
        event,
        (name, json) => (LARGE.has(name) ? pickIdentity(json) : json),
        '"truncated":true,',
      );
}

function assemblePayload(
  event: PayloadEvent,
  format: (name: RecordName, json: string) => string,
  more = '',
): string {
  const data = RECORDS.flatMap((name) =>
    event[name] ? [`"${name}":${format(name, event[name])}`] : [],
  );
  const head = `"type":"${event.kind}","timestamp":"${event.occurred_at}",${more}`;
  return `{${head}"data":{${data.join(',')}}}`;
}

function pickIdentity(json: string): string {
  const { id, uuid, routes_show_path } = JSON.parse(json) as { [name: string]: unknown };
  return JSON.stringify({ id, uuid, routes_show_path });
}

type Fields = { [name: string]: unknown };

/**
 * The tokens of an event: those of its call and its lead, then the columns of these, and `lead_id`,
 * `call_id`, `call_uuid`, `buyer_name`, `offer_name`, `type`, `timestamp` and others.
 */
export function eventTokens(event: PayloadEvent): TokenSource {
  const read = (name: RecordName): Fields =>
    event[name] ? (JSON.parse(event[name]) as Fields) : {};
  const [lead, call, buyer, attempt] = [read('lead'), read('call'), read('buyer'), read('attempt')];
  const serviceNumber = typeof call.number_called === 'string' ? call.number_called : undefined;
  const facts: Fields = {
    ...lead,
    ...call,
    caller_id: lead.caller_id ?? call.caller_number,
    caller_number: call.caller_number ?? lead.caller_id,
    first_name: firstName(lead.full_name ?? call.name),
    service_number: serviceNumber,
    lead_id: lead.id ?? call.lead_id,
    lead_uuid: lead.uuid,
    lead_status: lead.status,
    call_id: call.id,
    call_uuid: call.uuid,
    call_status: call.status,
    buyer_id: buyer.id ?? call.buyer_id ?? lead.buyer_id,
    buyer_name: buyer.name ?? call.buyer,
    offer_name: event.offer_name,
    connect_to: attempt.connect_to ?? call.connected_to,
    type: event.kind,
    timestamp: event.occurred_at,
  };
  const baseTokens = ownTokens({
    ...facts,
    ...(lead.data as Fields | undefined),
    ...(call.token_values as Fields | undefined),
  });
  return withOrigin(baseTokens, {}, buildOrigin(lead, call));
}

/** The origin of the call of an event, or without a call of its lead. */
function buildOrigin(lead: Fields, call: Fields): Origin {
  const text = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  const number = text(call.caller_number) ?? text(lead.caller_id);
  return {
    traffic_source_id: text(call.traffic_source_id) ?? text(lead.traffic_source_id),
    user_traffic_source_id: text(call.user_traffic_source_id) ?? '',
    sub_id: text(call.sub_id) ?? text(lead.sub_id),
    number_called: text(call.number_called),
    city: text(call.caller_city),
    state: text(call.caller_state),
    zip: text(call.caller_zip),
    country: text(call.caller_country) ?? text(lead.country),
    ...readNumberOrigin(number?.replace(/^\+/, '')),
  };
}

const firstName = (name: unknown): string | undefined =>
  typeof name === 'string' ? name.split(/\s/)[0] : undefined;
