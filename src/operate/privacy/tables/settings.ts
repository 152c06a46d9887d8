import { business, codes, inUse, keys, ownKeys, service, type PersonalData } from './table-data';

// Tables of settings, and of the service itself.

const EXTERNAL_ID = ownKeys('external_record_id');

export const SETTINGS: PersonalData = {
  _prisma_migrations: { impersonal: [service('id checksum migration_name logs')] },
  access_control_lists: {
    redacted: 'name',
    keptColumns: [EXTERNAL_ID],
    impersonal: [codes('permissions')],
  },
  access_tokens: {
    redacted: 'name',
    keptColumns: [EXTERNAL_ID],
    impersonal: [codes('kind permissions'), keys('public_key secret_digest')],
  },
  agent_status_timestamps: { impersonal: [codes('key')] },
  agent_statuses: { redacted: 'name', keptColumns: [ownKeys('external_record_id key')] },
  agents: { keptColumns: [EXTERNAL_ID], impersonal: [business('name')] },
  alert_rules: {
    redacted: 'name',
    keptColumns: [EXTERNAL_ID],
    impersonal: [
      codes('kind time_zone schedule last_unsent_reason'),
      business('emails'),
      service('last_error'),
    ],
  },
  buyer_business_hours: { impersonal: [codes('schedule')] },
  buyer_conversions: {
    redacted: 'name',
    keptColumns: [inUse('token_values attribution_token_values')],
    impersonal: [codes('schedule conversion_type')],
  },
  buyer_fleets: {
    redacted: 'name description',
    keptColumns: [ownKeys('external_record_id user_fleet_id')],
  },
  buyer_groups: {
    redacted: 'name',
    keptColumns: [EXTERNAL_ID],
    impersonal: [codes('time_zone dial_buyers_type')],
  },
  buyer_suppressions: {
    redacted: 'name',
    keptColumns: [EXTERNAL_ID, inUse('caller_id_column_name headers')],
  },
  buyers: {
    redacted: 'name',
    keptColumns: [
      ownKeys('external_record_id user_buyer_id'),
      inUse('number dtmf_tones record_token_filter_data record_token_additional_data'),
      inUse('bid_request bid_response'),
    ],
    impersonal: [
      business('email'),
      codes('buyer_type time_zone route_by_type display_caller_id_type states area_codes'),
    ],
  },
  call_centers: {
    redacted: 'name description',
    keptColumns: [ownKeys('external_record_id user_call_center_id')],
  },
  call_limits: { impersonal: [codes('zone network_limits')] },
  companies: {
    keptColumns: [inUse('help_text opt_out_text opt_in_text')],
    impersonal: [
      business('name'),
      codes('country contact_countries contact_prefixes lead_token_powers sip_hosts'),
    ],
  },
  credential_lookups: { impersonal: [keys('public_key')] },
  dispositions: { redacted: 'name', keptColumns: [ownKeys('external_record_id key')] },
  inbound_webhook_lookups: { impersonal: [keys('vanity_uri')] },
  inbound_webhooks: {
    redacted: 'name',
    keptColumns: [ownKeys('external_record_id vanity_uri')],
    impersonal: [keys('auth_token_digest')],
  },
  installations: { impersonal: [keys('pepper_check'), service('settings')] },
  lead_tokens: { impersonal: [keys('token')] },
  migration_positions: { impersonal: [service('source resource cursor')] },
  number_lookups: { impersonal: [business('phone_number')] },
  numbers: {
    redacted: 'name',
    keptColumns: [EXTERNAL_ID],
    impersonal: [
      business('phone_number'),
      codes('country carrier forward_type'),
      keys('carrier_number_id'),
    ],
  },
  loop_faults: { impersonal: [service('name')] },
  mail_addresses: { impersonal: [business('email'), codes('confirmation_number')] },
  mail_counts: { impersonal: [business('mailbox')] },
  offers: {
    redacted: 'name description',
    keptColumns: [
      ownKeys('external_record_id user_offer_id'),
      inUse('greeting_message fallback_message fallback_number abandoned_message payouts'),
    ],
    impersonal: [
      codes('time_zone fallback_type callback_behavior lead_token_powers'),
      keys('lead_token'),
    ],
  },
  outgoing_webhooks: {
    redacted: 'name',
    keptColumns: [EXTERNAL_ID, inUse('url headers body token_filters')],
    impersonal: [
      codes('owner_type trigger_type method paused_reason'),
      business('origin alert_email'),
    ],
  },
  processes: { impersonal: [service('kind host')] },
  record_counts: { impersonal: [service('resource')] },
  saved_counts: { impersonal: [service('key cluster counted')] },
  schedule_actions: {
    redacted: 'name',
    keptColumns: [
      EXTERNAL_ID,
      inUse('token_filters connect_to body subject from_email url headers machine_message'),
    ],
    impersonal: [codes('action_type wait_unit wait_until method machine_action')],
  },
  schedules: {
    redacted: 'name description',
    keptColumns: [ownKeys('external_record_id user_schedule_id'), inUse('triggers from_email')],
    impersonal: [codes('time_zone daylight_hours business_hours exit_on'), keys('lead_token')],
  },
  traffic_source_tokens: {
    redacted: 'name',
    keptColumns: [EXTERNAL_ID],
    impersonal: [keys('lead_token auth_token_digest')],
  },
  traffic_sources: {
    redacted: 'name description',
    keptColumns: [ownKeys('external_record_id user_traffic_source_id'), inUse('payouts')],
    impersonal: [business('email first_name last_name company_name'), codes('time_zone')],
  },
  users: { keptColumns: [EXTERNAL_ID], impersonal: [business('email name')] },
  value_lists: {
    redacted: 'description',
    keptColumns: [EXTERNAL_ID, inUse('name key')],
    impersonal: [codes('kind')],
  },
};
