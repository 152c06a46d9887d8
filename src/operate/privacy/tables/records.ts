import {
  atCarrier,
  business,
  codes,
  forReports,
  keys,
  ownKeys,
  service,
  type KeptColumns,
  type PersonalData,
} from './table-data';

// Tables of activity: most of their rows are about persons.

const noContact = (columns: string): KeptColumns => ({
  columns,
  why: 'keeps the person from being contacted, where the person has opted out or is blocked',
});

const forADay = (columns: string): KeptColumns => ({
  columns,
  why: 'is deleted by itself within a day',
});

export const RECORDS: PersonalData = {
  account_entries: {
    erased: 'note',
    redacted: 'note',
    keptColumns: [ownKeys('external_record_id')],
    impersonal: [codes('kind')],
  },
  agent_messages: { redacted: 'content', keptColumns: [ownKeys('external_record_id')] },
  alerts: { redacted: 'message', impersonal: [codes('kind subject told'), business('emails')] },
  bids: { erased: 'caller_number number' },
  buyer_suppression_files: {
    redacted:
      'name caller_id_column_name headers[] found_column_name found_headers[] error_message ' +
      'import_file_name',
    keptColumns: [
      ownKeys('external_record_id'),
      {
        columns: 'import_file_key',
        why:
          'an uploaded file keeps its rows: delete the record of the file where it is about the ' +
          'person',
      },
    ],
    impersonal: [codes('apply_block_or_unblock status')],
  },
  buyer_suppression_numbers: { keptColumns: [noContact('number')] },
  call_attempts: {
    erased: 'dial',
    keptColumns: [atCarrier('leg_sid')],
    impersonal: [business('connect_to'), codes('status')],
  },
  call_decisions: { erased: 'decision' },
  call_events: { erased: 'message details', impersonal: [codes('event')] },
  call_holds: { erased: 'caller_number slots caps remote_ip' },
  call_leg_prices: { keptColumns: [atCarrier('carrier_call_id')], impersonal: [codes('currency')] },
  calls: {
    erased:
      'external_record_id from_number to_number caller_number caller_city caller_state ' +
      'caller_zip error_message token_values recording_url disposition_notes machine_message',
    keptColumns: [
      atCarrier('carrier_call_id'),
      forReports('caller_country sub_id connect_to quality_assurance_name'),
    ],
    impersonal: [
      codes('direction status error_code hangup_cause carrier contact_field_type fallback'),
      codes('answered_by machine_action'),
    ],
  },
  change_logs: {
    // The IP address is the person's where a page of the company sent the request.
    erased: 'changes changes_shown ip client_request_id',
    redacted: 'credentials',
    impersonal: [codes('record_type action operation'), business('user_email'), keys('request_id')],
  },
  contact_restrictions: { keptColumns: [noContact('caller_number')] },
  contacts: { erased: 'external_record_id', keptColumns: [noContact('caller_number')] },
  conversions: { erased: 'caller_number return_reason', redacted: 'name return_reason' },
  decision_bases: { impersonal: [keys('hash'), business('basis')] },
  emails: {
    erased: 'external_record_id to_email subject body error_message token_values',
    keptColumns: [atCarrier('message_id')],
    impersonal: [business('from_email'), codes('status error_code mailer')],
  },
  idempotency_keys: {
    keptColumns: [forADay('key credential answer request_digest')],
    impersonal: [codes('operation_id')],
  },
  lead_logs: { erased: 'message details', impersonal: [codes('event')] },
  leads: {
    erased: 'external_record_id caller_number email zones remote_ip data',
    keptColumns: [forReports('sub_id')],
    impersonal: [codes('contact_field_type status phase exit_reason delay_reason')],
  },
  list_values: { erased: 'value' },
  pings: { erased: 'caller_number sub_id token_values answer' },
  rate_limits: { keptColumns: [forADay('subject')] },
  rejected_rows: { erased: 'caller_id', impersonal: [codes('reason')] },
  schedule_events: { impersonal: [codes('kind')] },
  scheduled_callbacks: { impersonal: [codes('status')] },
  statements: {
    keptColumns: [ownKeys('external_record_id')],
    impersonal: [codes('time_zone'), service('totals')],
  },
  text_messages: {
    erased: 'external_record_id from_number to_number body error_message token_values',
    keptColumns: [atCarrier('carrier_message_id')],
    impersonal: [codes('direction status error_code carrier')],
  },
  webhook_deliveries: {
    erased: 'request_url request_headers request_body',
    impersonal: [codes('trigger_type request_method status')],
  },
  webhook_events: { erased: 'snapshot', impersonal: [codes('kind')] },
  webhook_logs: {
    erased: 'request_url request_headers request_body response_headers response_body notes',
    impersonal: [codes('trigger_type request_method')],
  },
  webhook_manual_fires: { redacted: 'name', keptColumns: [ownKeys('external_record_id')] },
};
