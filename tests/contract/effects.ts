// The code in which each field that requests may write has its effect.
// tests/contract/effects.test.ts reads the fields from the contract, and fails for one that has no
// row here and is not marked with x-without-effect there.

import { all, at, HOURS, limits, type Effects } from './effect';
import { BUYER_GROUPS, BUYERS, OFFERS, SUPPRESSION, TRAFFIC_SOURCES } from './effects-of-buyers';
import { NETWORK_EFFECTS } from './effects-of-networks';

/** Effects in every resource, unless it says otherwise. */
export const COMMON: Effects = {
  external_record_id: 'label',
  serializer: at('src/api/records/record.ts'),
  ...all('legacy_id uuid created_at updated_at', at('src/api/records/kept-identity.ts')),
};

const SCHEDULES: Record<string, Effects> = {
  schedules: {
    ...all('name user_schedule_id description', 'label'),
    offer_id: at('src/domain/outreach/queries/context.ts'),
    time_zone: at('src/domain/schedules/engine/plan.ts'),
    daylight_hours: at('src/domain/schedules/engine/plan.ts'),
    business_hours_schedule: at('src/domain/schedules/schedules.ts'),
    'business_hours_schedule.day': HOURS,
    'business_hours_schedule.times': HOURS,
    hours_to_expire: at('src/domain/schedules/engine/cadence.ts'),
    max_contact_attempts: at('src/domain/schedules/engine/cadence.ts'),
    from_email: at('src/domain/outreach/drafts.ts'),
    paused: at('src/domain/outreach/steps.ts'),
    buyer_suppression_ids: at(
      'src/domain/outreach/queries/context.ts',
      'buyer_suppression_schedules',
    ),
    ...all('reset_lead_token lead_token', at('src/domain/offers/lead-token.ts')),
    exit_on: at('prisma/sql/schedules/leave_schedule.sql'),
    triggers: at('src/domain/leads/start-triggered.ts'),
    'triggers.on': at('prisma/sql/schedules/record_schedule_event.sql'),
    'triggers.token_filter_list': at('src/domain/leads/start-triggered.ts'),
  },
  schedule_actions: {
    ...all('name body', 'label'),
    subject: at('src/domain/outreach/drafts.ts'),
    schedule_id: at('src/domain/outreach/queries/context.ts'),
    action_type: at('src/domain/schedules/engine/plan.ts'),
    end_of_schedule: at('src/domain/outreach/queries/context.ts'),
    position: at('src/domain/outreach/queries/context.ts'),
    token_filter_list: at('src/domain/schedules/engine/plan.ts', 'token_filters'),
    ...all('wait_amount wait_unit wait_until', at('src/domain/schedules/engine/plan.ts')),
    connect_to: at('src/domain/outreach/context.ts'),
    timeout_seconds: at('src/domain/outreach/drafts.ts'),
    only_when_buyer_available: at('src/domain/outreach/steps.ts'),
    ...all('machine_action machine_message', at('src/domain/calls/answer-call.ts')),
    html: at('src/domain/outreach/drafts.ts'),
    from_email: at('src/domain/outreach/drafts.ts'),
    url: at('src/domain/outreach/send-action-webhook.ts'),
    method: at('src/domain/outreach/send-action-webhook.ts'),
    headers: at('src/domain/outreach/send-action-webhook.ts'),
    to_schedule_id: at('src/domain/outreach/steps.ts'),
  },
};

const AGENTS: Record<string, Effects> = {
  call_centers: all('name description user_call_center_id', 'label'),
  agent_statuses: {
    ...all('key name', 'label'),
    is_online: at('prisma/sql/agents/record_agent_change.sql'),
    position: at('src/api/records/noun.ts', 'order'),
  },
  agents: {
    name: 'label',
    user_id: at('src/domain/agents/events.ts'),
    user_email: at('src/domain/agents/agents.ts'),
    agent_status_id: at('src/domain/agents/message-targets.ts'),
    key: at('src/domain/agents/change-status.ts'),
    call_center_ids: at('src/domain/agents/agents.ts', 'agent_call_centers'),
    buyer_ids: at('prisma/sql/agents/find_agent_of_buyer.sql', 'agent_buyers'),
  },
  agent_messages: {
    content: 'label',
    ...all(
      'agent_status_id buyer_ids buyer_group_ids call_center_ids',
      at('src/domain/agents/message-targets.ts'),
    ),
  },
};

const READ_LEAD = at('src/domain/leads/read-submission.ts');
const SUBMIT_LEAD = at('src/domain/leads/submit-lead.ts');
const LEADS: Effects = {
  ...all('caller_id email external_record_id', 'label'),
  ...all('lead_token offer_lead_token schedule_lead_token', at('src/api/auth/lead-tokens.ts')),
  auth_token: at('src/domain/leads/read-submission.ts', 'CREDENTIAL_NAMES'),
  contact_field_type: at('src/domain/routing/queries/caller-facts.ts'),
  ...all('schedule_callback_at schedule_callback_in_seconds', READ_LEAD),
  ...all('update_all_matching_leads apply_to', SUBMIT_LEAD),
  unblock_contact: READ_LEAD,
  blocked: at('src/domain/outreach/steps.ts'),
  ...all(
    'assign_service_number assign_trackdrive_number assign_sms_number',
    at('src/domain/leads/submit-lead.ts'),
  ),
  ...all('expire_existing delete_existing update_only restart_schedule', READ_LEAD),
  lead_priority: at('src/domain/outreach/queries/leads.ts'),
  auto_format_nested_fields: READ_LEAD,
  next_action_at: at('src/domain/outreach/steps.ts'),
  ...all(
    'hours_to_expire expires_in max_contact_attempts',
    at('src/domain/schedules/engine/cadence.ts'),
  ),
  traffic_source_id: at('src/domain/routing/queries/caller-facts.ts'),
  sub_id: at('src/domain/routing/queries/caller-facts.ts'),
  ...all('ip_address remote_ip', at('src/domain/leads/build-submission.ts')),
  time_zone: at('src/api/request/reader.ts'),
  data: READ_LEAD,
  offer_id: at('src/api/auth/lead-tokens.ts'),
  schedule_id: at('src/api/auth/lead-tokens.ts'),
  opt_out: at('src/domain/outreach/steps.ts'),
};

const EVENT = at('src/domain/calls/event-change.ts');
const INCOMING = at('src/domain/calls/receive.ts');
const IMPORT = at('src/domain/calls/import-calls.ts');
const UPDATE_CALL = at('src/domain/calls/update-call.ts');
const CHANGE_DOLLARS = at('src/domain/money/engine/settle-changes.ts');
/** Replays count by the twin of this matrix in memory. */
const SIMULATION = at('prisma/sql/caps/cap_counters.sql');
const ASSUMED = at('src/domain/simulation/simulate.ts');
const CALLS: Record<string, Effects> = {
  call_sessions: {
    ...all('number_called offer_id caller_number tokens traffic_source_id sub_id', INCOMING),
    call_sid: INCOMING,
    event: at('src/domain/routing/engine/progress.ts'),
    attempt: EVENT,
    key: at('src/domain/routing/engine/progress.ts'),
    ...all('duration recording_url hangup_cause agent_id by leg_sid number', EVENT),
    ...all('sip_code q850', at('src/domain/routing/engine/leg-failure.ts')),
    trunk: at('src/domain/calls/change-trunk.ts'),
    answered_by: at('src/domain/calls/person-event.ts'),
    switch: INCOMING,
    talk_seconds: at('src/domain/telephony/play-sandbox-call.ts'),
    recording: at('src/domain/calls/recordings.ts'),
    ...all('calls calls.started_at calls.ended_at calls.buyer_id', IMPORT),
    ...all(
      'calls.number_called calls.offer_id calls.caller_number calls.tokens calls.call_sid',
      INCOMING,
    ),
    ...all('calls.traffic_source_id calls.sub_id calls.switch calls.sip', INCOMING),
    ...all('calls.sip.attestation calls.sip.diversion calls.sip.headers', INCOMING),
    ...all('calls.duration calls.hangup_cause calls.by', EVENT),
    ...all('sip sip.attestation sip.diversion sip.headers', INCOMING),
  },
  calls: {
    ...all('to from lead_id schedule_id offer_id', at('src/domain/calls/read-call-order.ts')),
    id: at('src/domain/calls/send-key-press.ts'),
    digits: at('src/domain/calls/play-keys.ts'),
    ...all('revenue add_revenue payout add_payout buyer_converted offer_converted', CHANGE_DOLLARS),
    ...all('post_call_tokens data hang_up adjustment_reason description', UPDATE_CALL),
    ...all('machine_action machine_message', at('src/domain/calls/answer-call.ts')),
    ...all(
      'disposition_key disposition_notes quality_assurance_name agent_id',
      at('src/domain/calls/describe-call.ts'),
    ),
  },
  switches: {
    ...all('name', 'label'),
    webhook_url: at('src/domain/switches/push-command.ts', 'url'),
    places_calls: at('src/domain/switches/queries/switches.ts'),
    ...all('call_id command attempt number boot_id live', at('src/domain/calls/sync-switch.ts')),
    ...all('result reason', at('src/domain/switches/save-result.ts')),
  },
  trunks: {
    ...all('name', 'label'),
    switch_id: at('src/domain/routing/lines.ts'),
    ...all(
      'host prefixes countries dial_prefix caller_id_rule caller_id headers',
      at('src/domain/routing/engine/trunks.ts'),
    ),
    ...all(
      'position max_calls max_calls_per_second paused',
      at('prisma/sql/switches/reserve_trunks.sql'),
    ),
  },
  dispositions: {
    ...all('key name', 'label'),
    position: at('src/domain/calls/queries/describe-call.ts'),
  },
  routing: {
    ...all('offer_id caller_number tokens at', at('src/domain/calls/explain-routing.ts')),
    ...all(
      'carrier traffic_source_id sub_id number_called',
      at('src/domain/calls/explain-routing.ts'),
    ),
    ...all('page per_page', at('src/domain/calls/call-sessions.ts')),
    seed: at('src/domain/routing/engine/draw.ts'),
    ...all('time_zone', at('src/api/request/reader.ts')),
    ...all('from to', at('src/domain/simulation/queries/replayed-calls.ts')),
    synthetic: ASSUMED,
    ...all('synthetic.calls synthetic.from synthetic.to synthetic.tokens', ASSUMED),
    ...all(
      'synthetic.answer_rate synthetic.conversion_rate synthetic.answered_seconds',
      at('src/domain/simulation/outcome.ts'),
    ),
    changes: at('src/domain/simulation/change.ts'),
    ...all('changes.buyer_id changes.buyer_group_id', at('src/domain/simulation/simulations.ts')),
    ...all(
      `changes.paused changes.tier changes.weight
      changes.timeout_seconds changes.dial_buyers_type`,
      at('src/domain/simulation/change.ts'),
    ),
    'changes.business_hours_schedule': at('src/domain/simulation/simulations.ts'),
    'changes.business_hours_schedule.schedule': at('src/domain/caps/hourly-limits.ts'),
    'changes.concurrency_cap_limit': at('src/domain/simulation/caps.ts'),
    'changes.concurrency_cap': at('src/domain/simulation/simulations.ts'),
    ...limits(SIMULATION, 'total monthly daily hourly', 'changes.'),
    ...limits(SIMULATION, 'hourly', 'changes.business_hours_schedule.'),
  },
};

const TELEPHONY = at('src/domain/telephony/telephony.ts');
const JAMBONZ = at('src/domain/telephony/jambonz.ts');
const WEBHOOKS: Record<string, Effects> = {
  outgoing_webhooks: {
    ...all('name url', 'label'),
    time_zone: at('src/api/request/reader.ts'),
    owner_type: at('src/domain/webhooks/make-delivery.ts'),
    owner_id: at('src/domain/webhooks/make-delivery.ts'),
    trigger_type: at('src/domain/webhooks/insert-deliveries.ts'),
    ...all('method headers body', at('src/platform/egress/request-template.ts')),
    timeout_seconds: at('src/domain/webhooks/attempt.ts'),
    success_codes: at('src/domain/webhooks/attempt.ts'),
    retries: at('src/domain/webhooks/backoff.ts'),
    paused: at('src/domain/webhooks/queries/leases.ts'),
    record_token_filter_list: at('src/domain/webhooks/make-delivery.ts', 'token_filters'),
    alert_email: at('src/domain/webhooks/alert-owner.ts'),
    from: at('prisma/sql/webhooks/redeliver_failed.sql', 'since'),
    to: at('prisma/sql/webhooks/redeliver_failed.sql', 'until'),
  },
  webhook_manual_fires: {
    ...all(
      'outgoing_webhook_id buyer_conversion_id lead_id call_id created_at updated_at',
      at('src/domain/webhooks/fire-manually.ts'),
    ),
    time_zone: at('src/api/request/reader.ts'),
  },
  inbound_webhooks: {
    ...all('name vanity_uri', 'label'),
    ...all('offer_id traffic_source_id', at('src/domain/ping-post/market.ts')),
    show_buyer_names: at('src/domain/ping-post/queries/pings.ts'),
    hold_seconds: at('src/domain/ping-post/ping.ts'),
    max_open_holds: at('src/domain/ping-post/limit-holds.ts'),
    paused: at('src/domain/ping-post/ping.ts'),
    ...all('has_auth_token reset_auth_token', at('src/domain/ping-post/inbound-webhooks.ts')),
    ...all(
      'caller_id caller_number phone sub_id data ping_id',
      at('src/domain/ping-post/read-request.ts'),
    ),
    auth_token: at('src/api/auth/webhook-tokens.ts'),
  },
  telephony: {
    ...all('MessageSid From To Body MessageStatus ErrorCode CallStatus CallDuration', TELEPHONY),
    ...all('CallSid Price PriceUnit CallerCity DialCallStatus DialCallSid', TELEPHONY),
    ...all('DialBridged DialCallDuration RecordingUrl Digits', TELEPHONY),
    ...all('call_sid direction from to type customerData call_status reason digits', JAMBONZ),
    ...all('dial_call_status dial_call_sid dial_sip_status', JAMBONZ),
    ...all('parent_call_sid sip_status duration', JAMBONZ),
    ...all('OptOutType AnsweredBy CallerState CallerZip FromCity FromState FromZip', TELEPHONY),
  },
  text_messages: all('from to body', at('src/domain/outreach/text-messages.ts')),
};

const PEOPLE: Record<string, Effects> = {
  users: {
    ...all('name email', 'label'),
    invite: at('src/domain/people/users.ts'),
    reset_second_factor: at('src/domain/people/users.ts'),
    team_ids: at('src/domain/people/edit-team.ts'),
  },
  invitations: { name: at('src/domain/people/users.ts') },
  access_control_lists: {
    name: 'label',
    users_emails: at('src/domain/people/access-control-lists.ts'),
    permissions: at('src/api/auth/caller.ts'),
    superuser: at('src/api/auth/caller.ts'),
    buyer_ids: at('src/data/access/conditions.ts', 'access_control_list_buyers'),
    buyer_group_ids: at('src/domain/people/access-control-lists.ts'),
    traffic_source_ids: at('src/data/access/conditions.ts', 'access_control_list_traffic_sources'),
    offer_ids: at('src/data/access/conditions.ts', 'access_control_list_offers'),
    all_offers: at('src/data/access/conditions.ts'),
  },
  access_tokens: {
    name: at('src/domain/people/access-tokens.ts'),
    kind: at('src/api/auth/account.ts'),
    permissions: at('src/api/auth/caller.ts'),
    superuser: at('src/api/auth/caller.ts'),
    user_email: at('src/domain/people/issue-credentials.ts'),
    expires_at: at('src/api/auth/queries/credentials.ts'),
  },
  company: {
    name: 'note',
    country: at('src/data/phone/queries/companies.ts'),
    contact_countries: at('src/data/phone/contact-policy.ts'),
    contact_prefixes: at('src/data/phone/contact-policy.ts'),
    sip_hosts: at('src/domain/people/destinations.ts'),
    lead_token_powers: at('src/api/auth/queries/lead-tokens.ts'),
    service_cost_per_minute: at('prisma/sql/calls/service_cost.sql'),
    ...all(
      'keyword_replies help_text opt_out_text opt_in_text',
      at('src/domain/outreach/queries/carrier-reports.ts'),
    ),
  },
};

const VALUES = all('values import_file column_name', at('src/domain/value-lists/sent-values.ts'));

/** By the resource, which is the first part of the path, and the field. */
export const EFFECTS: Record<string, Effects> = {
  buyers: BUYERS,
  buyer_groups: BUYER_GROUPS,
  buyer_fleets: all('name user_fleet_id description', 'label'),
  ...SUPPRESSION,
  ...NETWORK_EFFECTS,
  offers: OFFERS,
  traffic_sources: TRAFFIC_SOURCES,
  value_lists: {
    ...all('name description', 'label'),
    kind: at('src/domain/value-lists/sent-values.ts'),
    ...VALUES,
  },
  zip_lists: { ...all('name description', 'label'), ...VALUES },
  phone_numbers: {
    name: 'label',
    requested_number: at('src/domain/numbers/buy-number.ts'),
    number: at('src/domain/numbers/phone-numbers.ts', 'ownNumber'),
    ...all('country toll_free prefix', at('src/domain/numbers/search-numbers.ts')),
    ...all('offer_id traffic_source_id buyer_id', at('src/domain/numbers/called-number.ts')),
    forward_type: at('src/domain/numbers/phone-numbers.ts'),
    ...all('numbers import_file', at('src/domain/numbers/import-numbers.ts')),
  },
  ...SCHEDULES,
  ...AGENTS,
  leads: LEADS,
  ...CALLS,
  ...WEBHOOKS,
  ...PEOPLE,
};
