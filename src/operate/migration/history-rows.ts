import { contract } from '../../platform/contract/contract';
import { uuidv7 } from '../../data/uuid';
import { leadZones } from '../../data/phone/number-zones';
import { ianaName } from '../../platform/time/zone';
import type { IdsByResource, Note } from './context';
import { buildFieldReader, type FieldReader, type RowContext } from './fields';
import { readId } from './ids';
import { quote } from './page';
import type { SourceRecord } from './reader';
import type { MovableRecord } from './records';

// Builds rows of contacts, leads and calls from records of the other service. Pure.

export type Row = Record<string, unknown> & { id: number; uuid: string };
/** Undefined if a record cannot be stored here; the notes give the reason. */
export type OptionalRow = Row | undefined;

const { schemas } = contract.document.components;
const LEAD_STATUSES = new Set<unknown>(schemas.LeadStatus!.enum);
const CALL_STATUSES = new Set<unknown>(schemas.CallStatus!.enum);
const LIVE = new Set(['queue', 'scheduled', 'waiting', 'running', 'disabled']);
/** If neither the number nor the other service gives one: the day begins latest in the west. */
const DEFAULT_ZONE = 'America/Los_Angeles';

function readCommonColumns(
  { id }: MovableRecord,
  { text, time, uuid }: FieldReader,
  { now }: RowContext,
) {
  const createdAt = time('created_at') ?? now.toISOString();
  return {
    id,
    // A UUIDv7 cannot hold earlier times.
    uuid: uuid('uuid') ?? uuidv7(Math.max(new Date(createdAt).getTime(), 0)),
    created_at: createdAt,
    updated_at: time('updated_at') ?? createdAt,
    user_updated_at: time('user_updated_at'),
    external_record_id: text('external_record_id'),
  };
}

export function contactRow(record: MovableRecord, context: RowContext, note: Note): OptionalRow {
  const of = buildFieldReader(record, context, note);
  const sharedColumns = readCommonColumns(record, of, context);
  const callerNumber = of.phone('caller_id');
  if (callerNumber === null) return refuseRow(note, 'caller_id', 'has no number');
  return {
    ...sharedColumns,
    caller_number: callerNumber,
    blocked: of.flag('blocked'),
    blocked_at: of.time('blocked_at'),
    unblocked_at: of.time('unblocked_at'),
    opt_out: of.flag('opt_out'),
    opted_out_at: of.time('opted_out_at'),
    opted_in_at: of.time('opted_in_at'),
    calls_count: of.count('calls_count') ?? 0,
    sms_count: of.count('sms_count') ?? 0,
    emails_count: of.count('emails_count') ?? 0,
    last_contacted_at: of.time('last_contacted_at'),
  };
}

export interface Restriction {
  caller_number: number;
  owner_id: number;
  blocked: boolean;
  opt_out: boolean;
}

export function readRestrictions(
  record: SourceRecord,
  callerNumber: number,
  owner: 'offer' | 'schedule',
  existingIds: IdsByResource,
): Restriction[] {
  const idsIn = (field: string) =>
    new Set(
      [record[field] ?? []]
        .flat()
        .map(readId)
        .filter((id) => id !== undefined && existingIds.get(`${owner}s`)?.has(id)) as number[],
    );
  const blocked = idsIn(`blocked_${owner}_ids`);
  const optOut = idsIn(`opt_out_${owner}_ids`);
  return [...new Set([...blocked, ...optOut])].map((ownerId) => ({
    caller_number: callerNumber,
    owner_id: ownerId,
    blocked: blocked.has(ownerId),
    opt_out: optOut.has(ownerId),
  }));
}

export function leadRow(record: MovableRecord, context: RowContext, note: Note): OptionalRow {
  const of = buildFieldReader(record, context, note);
  const sharedColumns = readCommonColumns(record, of, context);
  const callerNumber = of.phone('caller_id');
  if (callerNumber === null) return refuseRow(note, 'caller_id', 'has no number');
  const offerId = of.reference('offer_id', 'offers');
  const scheduleId = of.reference('schedule_id', 'schedules');
  if (offerId === null && scheduleId === null)
    return refuseRow(note, 'offer_id', 'neither its offer nor its schedule is here');
  const status = leadStatus(of.text('status'), scheduleId, note);
  const isLive = LIVE.has(status) || (record.is_live === undefined ? false : of.flag('is_live'));
  if (isLive) noteUnfinished(record, scheduleId, note);
  return {
    ...sharedColumns,
    caller_number: callerNumber,
    zones: readZones(of, callerNumber),
    offer_id: offerId,
    schedule_id: scheduleId,
    status,
    is_live: isLive && record.is_live !== false,
    ...leadColumns(of),
    // Belongs to the number, not to the lead: for services that have no list of contacts.
    blocked: of.flag('blocked') || status === 'blocked',
    opt_out: of.flag('opt_out') || status === 'opt_out',
  };
}

/** Zones of its number and postal code; if these have none, the zone that it had there. */
const readZones = (of: FieldReader, callerNumber: number): string[] =>
  leadZones(
    callerNumber,
    of.text('zip_postal_code') ?? undefined,
    ianaName(of.text('time_zone') ?? '') ?? DEFAULT_ZONE,
  );

const leadColumns = (of: FieldReader) => ({
  email: of.text('email'),
  contact_field_type: of.text('contact_field_type'),
  expires_in: of.count('expires_in'),
  sub_id: of.text('sub_id'),
  traffic_source_id: of.reference('traffic_source_id', 'traffic_sources'),
  buyer_id: of.reference('buyer_id', 'buyers'),
  remote_ip: of.text('remote_ip'),
  attempted_call_id: of.id('attempted_call_id'),
  connected_call_id: of.id('connected_call_id'),
  sms_number_id: of.reference('sms_number_id', 'phone_numbers'),
  dial_number_id: of.reference('dial_number_id', 'phone_numbers'),
  lead_priority: of.amount('lead_priority'),
  hours_to_expire: of.count('hours_to_expire'),
  max_contact_attempts: of.count('max_contact_attempts'),
  revenue: of.amount('revenue') ?? 0,
  payout: of.amount('payout') ?? 0,
  offer_converted: of.flag('offer_converted'),
  buyer_converted: of.flag('buyer_converted'),
  data: of.object('data') ?? {},
  first_queued_at: of.time('first_queued_at'),
  first_action_at: of.time('first_action_at'),
  last_action_at: of.time('last_action_at'),
  last_call_at: of.time('last_call_at'),
  schedule_ended_at: of.time('schedule_ended_at'),
  next_action_at: of.time('next_action_at'),
  next_schedule_action_id: of.reference('next_schedule_action_id', 'schedule_actions'),
});

/** A call in progress there is not in progress here. */
function leadStatus(status: string | null, scheduleId: number | null, note: Note): string {
  const planned = scheduleId === null ? 'queue' : 'scheduled';
  if (status === 'running') return planned;
  if (LEAD_STATUSES.has(status)) return status!;
  note('status', `changed to completed: ${quote(status)} is no status of leads`);
  return 'completed';
}

/** Notes the parts of a live lead that are not continued here. */
function noteUnfinished(record: SourceRecord, scheduleId: number | null, note: Note): void {
  if (record.scheduled_callback_id)
    note('scheduled_callback_id', 'left out: a callback has to be asked for again');
  if (scheduleId !== null && record.next_schedule_action_id === undefined)
    note(
      'next_schedule_action_id',
      'what comes next for it is not known: it is not contacted until a submission with ' +
        'restart_schedule',
    );
}

export function callRow(record: MovableRecord, context: RowContext, note: Note): OptionalRow {
  const of = buildFieldReader(record, context, note);
  const sharedColumns = readCommonColumns(record, of, context);
  const direction = of.text('category');
  if (direction !== 'inbound' && direction !== 'outbound')
    return refuseRow(note, 'category', 'is neither inbound nor outbound');
  const endedAt = of.time('ended_at');
  if (endedAt === null) return refuseRow(note, 'ended_at', 'is under way: run the command again');
  const status = of.text('status');
  if (!CALL_STATUSES.has(status))
    note('status', `changed to completed: ${quote(status)} is no status of calls`);
  const [callerNumber, numberCalled] = [of.phone('caller_number'), of.phone('number_called')];
  const buyerId = of.reference('buyer_id', 'buyers');
  const inbound = direction === 'inbound';
  return {
    ...sharedColumns,
    direction,
    from_number: inbound ? callerNumber : numberCalled,
    to_number: inbound ? numberCalled : callerNumber,
    caller_number: callerNumber,
    status: CALL_STATUSES.has(status) ? status : 'completed',
    ended_at: endedAt,
    buyer_id: buyerId,
    routed: buyerId !== null,
    ...callColumns(of),
    ...callReferences(of),
  };
}

const callColumns = (of: FieldReader) => ({
  caller_city: of.text('caller_city'),
  caller_state: of.text('caller_state'),
  caller_zip: of.text('caller_zip'),
  caller_country: of.text('caller_country'),
  connect_to: of.longText('connected_to'),
  error_code: of.text('error_code'),
  error_message: of.longText('error_message'),
  hangup_cause: of.longText('hangup_cause'),
  carrier: of.text('provider') ?? 'unknown',
  carrier_call_id: of.text('call_sid'),
  sub_id: of.text('sub_id'),
  contact_field_type: of.text('contact_field_type'),
  fallback: of.longText('fallback'),
  token_values: of.object('token_values') ?? {},
  recording_url: of.url('recording_url'),
  revenue: of.amount('revenue') ?? 0,
  buyer_revenue: of.amount('buyer_revenue') ?? of.amount('revenue') ?? 0,
  payout: of.amount('payout') ?? 0,
  provider_cost: of.amount('provider_cost'),
  service_cost: of.amount('service_cost') ?? 0,
  buyer_converted: of.flag('buyer_converted'),
  buyer_repeat_caller: of.flag('buyer_repeat_caller'),
  traffic_source_converted: of.flag('traffic_source_converted'),
  traffic_source_repeat_caller: of.flag('traffic_source_repeat_caller'),
  answered_at: of.time('answered_at'),
  connected_at: of.time('connected_at'),
  total_duration: of.count('total_duration'),
  answered_duration: of.count('answered_duration'),
  quality_assurance_name: of.text('quality_assurance_name'),
  disposition_notes: of.longText('disposition_notes'),
  answered_by: of.text('answered_by'),
  machine_action: of.text('machine_action'),
  machine_message: of.longText('machine_message'),
  abandoned: of.flag('abandoned'),
});

const callReferences = (of: FieldReader) => ({
  number_id: of.reference('number_id', 'phone_numbers'),
  lead_id: of.reference('lead_id', 'leads'),
  offer_id: of.reference('offer_id', 'offers'),
  traffic_source_id: of.reference('traffic_source_id', 'traffic_sources'),
  schedule_id: of.reference('schedule_id', 'schedules'),
  schedule_action_id: of.reference('schedule_action_id', 'schedule_actions'),
  agent_id: of.reference('agent_id', 'agents'),
  quality_assurance_id: of.reference('quality_assurance_id', 'buyers'),
  disposition_id: of.reference('disposition_id', 'dispositions'),
});

function refuseRow(note: Note, field: string, why: string): undefined {
  note(field, `not moved: ${why}`);
}
