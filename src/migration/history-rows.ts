import { contract } from '../contract';
import { uuidv7 } from '../db/uuid';
import { leadZones } from '../phone/number-zones';
import { ianaName } from '../time/zone';
import type { Known, Note } from './context';
import { fieldsOf, type FieldReader, type RowContext } from './fields';
import { readId } from './ids';
import { quote } from './page';
import type { SourceRecord } from './reader';
import type { MovableRecord } from './records';

// Builds rows of contacts, leads and calls from records of the other service. Pure.

export type Row = Record<string, unknown> & { id: number; uuid: string };
/** Undefined if a record cannot be stored here; the notes give the reason. */
export type MadeRow = Row | undefined;

const { schemas } = contract.document.components;
const LEAD_STATUSES = new Set<unknown>(schemas.LeadStatus!.enum);
const CALL_STATUSES = new Set<unknown>(schemas.CallStatus!.enum);
const LIVE = new Set(['queue', 'scheduled', 'waiting', 'running', 'disabled']);
/** If neither the number nor the other service gives one: the day begins latest in the west. */
const DEFAULT_ZONE = 'America/Los_Angeles';

function common({ id }: MovableRecord, { text, time, uuid }: FieldReader, { now }: RowContext) {
  const created_at = time('created_at') ?? now.toISOString();
  return {
    id,
    // A UUIDv7 cannot hold earlier times.
    uuid: uuid('uuid') ?? uuidv7(Math.max(new Date(created_at).getTime(), 0)),
    created_at,
    updated_at: time('updated_at') ?? created_at,
    user_updated_at: time('user_updated_at'),
    external_record_id: text('external_record_id'),
  };
}

export function contactRow(record: MovableRecord, context: RowContext, note: Note): MadeRow {
  const of = fieldsOf(record, context, note);
  const own = common(record, of, context);
  const caller_number = of.phone('caller_id');
  if (caller_number === null) return refused(note, 'caller_id', 'has no number');
  return {
    ...own,
    caller_number,
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

export function restrictionsOf(
  record: SourceRecord,
  caller_number: number,
  owner: 'offer' | 'schedule',
  known: Known,
): Restriction[] {
  const idsIn = (field: string) =>
    new Set(
      [record[field] ?? []]
        .flat()
        .map(readId)
        .filter((id) => id !== undefined && known.get(`${owner}s`)?.has(id)) as number[],
    );
  const blocked = idsIn(`blocked_${owner}_ids`);
  const opt_out = idsIn(`opt_out_${owner}_ids`);
  return [...new Set([...blocked, ...opt_out])].map((owner_id) => ({
    caller_number,
    owner_id,
    blocked: blocked.has(owner_id),
    opt_out: opt_out.has(owner_id),
  }));
}

export function leadRow(record: MovableRecord, context: RowContext, note: Note): MadeRow {
  const of = fieldsOf(record, context, note);
  const own = common(record, of, context);
  const caller_number = of.phone('caller_id');
  if (caller_number === null) return refused(note, 'caller_id', 'has no number');
  const offer_id = of.reference('offer_id', 'offers');
  const schedule_id = of.reference('schedule_id', 'schedules');
  if (offer_id === null && schedule_id === null)
    return refused(note, 'offer_id', 'neither its offer nor its schedule is here');
  const status = leadStatus(of.text('status'), schedule_id, note);
  const is_live = LIVE.has(status) || (record.is_live === undefined ? false : of.flag('is_live'));
  if (is_live) noteUnfinished(record, schedule_id, note);
  return {
    ...own,
    caller_number,
    zones: zonesOf(of, caller_number),
    offer_id,
    schedule_id,
    status,
    is_live: is_live && record.is_live !== false,
    ...leadColumns(of),
    // Belongs to the number, not to the lead: for services that have no list of contacts.
    blocked: of.flag('blocked') || status === 'blocked',
    opt_out: of.flag('opt_out') || status === 'opt_out',
  };
}

/** Zones of its number and postal code; if these have none, the zone that it had there. */
const zonesOf = (of: FieldReader, caller_number: number): string[] =>
  leadZones(
    caller_number,
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
function leadStatus(status: string | null, schedule_id: number | null, note: Note): string {
  const planned = schedule_id === null ? 'queue' : 'scheduled';
  if (status === 'running') return planned;
  if (LEAD_STATUSES.has(status)) return status!;
  note('status', `changed to completed: ${quote(status)} is no status of leads`);
  return 'completed';
}

/** Notes the parts of a live lead that are not continued here. */
function noteUnfinished(record: SourceRecord, schedule_id: number | null, note: Note): void {
  if (record.scheduled_callback_id)
    note('scheduled_callback_id', 'left out: a callback has to be asked for again');
  if (schedule_id !== null && record.next_schedule_action_id === undefined)
    note(
      'next_schedule_action_id',
      'what comes next for it is not known: it is not contacted until a submission with ' +
        'restart_schedule',
    );
}

export function callRow(record: MovableRecord, context: RowContext, note: Note): MadeRow {
  const of = fieldsOf(record, context, note);
  const own = common(record, of, context);
  const direction = of.text('category');
  if (direction !== 'inbound' && direction !== 'outbound')
    return refused(note, 'category', 'is neither inbound nor outbound');
  const ended_at = of.time('ended_at');
  if (ended_at === null) return refused(note, 'ended_at', 'is under way: run the command again');
  const status = of.text('status');
  if (!CALL_STATUSES.has(status))
    note('status', `changed to completed: ${quote(status)} is no status of calls`);
  const [caller_number, number_called] = [of.phone('caller_number'), of.phone('number_called')];
  const buyer_id = of.reference('buyer_id', 'buyers');
  const inbound = direction === 'inbound';
  return {
    ...own,
    direction,
    from_number: inbound ? caller_number : number_called,
    to_number: inbound ? number_called : caller_number,
    caller_number,
    status: CALL_STATUSES.has(status) ? status : 'completed',
    ended_at,
    buyer_id,
    routed: buyer_id !== null,
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

function refused(note: Note, field: string, why: string): undefined {
  note(field, `not moved: ${why}`);
}
