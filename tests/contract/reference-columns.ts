import { combineNames, words } from './reference';

// The columns of the resources of the reference.

const COMMON = words(
  `id legacy_id type uuid created_at updated_at deleted_at user_updated_at routes_show_path
  routes_edit_path external_record_id`,
);
const METRICS = 'attempt buyer_conversion connection earned_revenue revenue';
const INTERVALS = 'daily hourly monthly total';
export const USED = combineNames(
  (metric, interval) => `${metric}_${interval}_used`,
  METRICS,
  INTERVALS,
);
const LIMITS = combineNames(
  (metric, interval) => `${metric}_${interval}_limit`,
  METRICS,
  INTERVALS,
);

export interface ReferenceColumns {
  /** Where the resource is listed, and the root key of the list. */
  path: string;
  root: string;
  columns: string[];
  /** The value of `type`. */
  type?: string;
  /** Other columns are not allowed. */
  exact?: true;
}

const LEAD_COLUMNS = words(`
  context_menu_name name caller_id email full_name contact_field_type expires_in country
  state_province zip_postal_code time_zone sub_id offer_id schedule_id status human_status
  has_next_action opt_out revenue payout offer_converted buyer_converted traffic_source_id
  buyer_id remote_ip attempted_call_id connected_call_id scheduled_callback_id sms_number_id
  dial_number_id lead_priority hours_to_expire max_contact_attempts last_action_at first_action_at
  first_queued_at schedule_ended_at next_action_at last_call_at is_live blocked data
`);

const CALL_COLUMNS = words(`
  name recording_url category number_called number_id connected_to caller_number offer
  user_offer_id offer_id quality_assurance_user_id quality_assurance_name quality_assurance_id
  agent_id traffic_source user_traffic_source_id traffic_source_id buyer user_buyer_id buyer_id
  obfuscated_caller_number caller_city caller_country token_values total_duration hold_duration
  ivr_duration attempted_duration answered_duration agent_duration sub_id schedule_id
  schedule_name ring_pool_id status buyer_converted buyer_repeat_caller buyer_revenue revenue
  traffic_source_converted traffic_source_repeat_caller traffic_source_payout payout service_cost
  provider_cost call_sid provider outgoing_webhooks_count ended_at contact_field_type
  disposition_id disposition_key disposition_name disposition_notes hangup_cause
`);

const BUYER_COLUMNS = words(`
  name context_menu_name email number paused time_zone user_buyer_id bid_price route_by_type
  buyer_type buyer_group_ids buyer_group_names token_values token_values_hash
  attribution_token_values attribution_token_values_hash last_call_at weight tier timeout_seconds
  dtmf_tones concurrency_cap_limit concurrency_cap_used maxed_out_by
  current_conversion_revenue_max current_conversion_revenue_min
  current_conversion_revenue_increment current_conversion_revenue current_conversion_duration
  current_conversion_duplicate_timeframe current_conversion_name
  current_conversion_token_value_ids current_conversion_attribution_token_value_ids
  ping_timeout_seconds buyer_suppression_ids record_token_filter_id record_token_filter_data_count
  record_token_filter_data record_token_additional_id record_token_additional_data_count
  record_token_additional_data business_hours_schedule buyer_conversions_schedule
`);

const resource = (
  root: string,
  type: string,
  columns: string[],
  more: Partial<ReferenceColumns> = {},
): ReferenceColumns => ({
  path: `/${root}`,
  root,
  type,
  columns,
  ...more,
});

export const RESOURCES: ReferenceColumns[] = [
  resource('buyers', 'Buyer', [...COMMON, ...BUYER_COLUMNS, ...USED, ...LIMITS]),
  resource('buyer_groups', 'BuyerGroup', [
    ...words(`
  company_id name concurrency_cap_limit concurrency_cap_used buyer_ids buyers_count maxed_out
  weight tier time_zone paused paused_at paused_by_user_id unpaused_at dial_buyers_type
`),
    ...COMMON,
    ...USED,
    ...LIMITS,
  ]),
  resource('buyer_fleets', 'BuyerFleet', [
    ...COMMON,
    ...words('company_id name description user_fleet_id buyers_count buyer_ids'),
  ]),
  resource('buyer_suppressions', 'BuyerSuppression', [
    ...COMMON,
    ...words(`
  name import_file_url status caller_id_column_name headers blocked error_message import_count
  total_count import_percent started_at failed_at stopped_at succeeded_at buyer_ids offer_ids
  schedule_ids
`),
  ]),
  resource('buyer_suppression_files', 'BuyerSuppressionFile', [
    ...COMMON,
    ...words(`
  company_id name buyer_suppression_id apply_block_or_unblock import_file_url user_id status
  caller_id_column_name error_message import_count total_count started_at stopped_at failed_at
  succeeded_at headers
`),
  ]),
  resource('agent_messages', 'AgentMessage', [
    ...COMMON,
    ...words('company_id content agent_status_id user_id agent_widget_count'),
  ]),
  resource('access_control_lists', 'AccessControlList', [
    ...COMMON,
    ...words('company_id name users_emails'),
  ]),
  {
    path: '/agent_status_timestamps',
    root: 'agent_status_timestamps',
    columns: words(
      `id company_id user_id collaborator_id agent_widget_id agent_status_id created_at
      updated_at key`,
    ),
    exact: true,
  },
  resource('webhook_manual_fires', 'WebhookManualFire', [
    ...COMMON,
    ...words(
      `name context_menu_name company_id outgoing_webhook_id buyer_conversion_id lead_id call_id
      webhook_log_ids lead_log_ids`,
    ),
  ]),
  resource('leads', 'Lead', [...COMMON, ...LEAD_COLUMNS]),
  resource('calls', 'Call', [...COMMON, ...CALL_COLUMNS]),
  resource('numbers', 'Number', COMMON, { path: '/phone_numbers' }),
  resource(
    'phone_number_search_results',
    'PhoneNumberSearchResult',
    words('id legacy_id type phone_number country'),
    { path: '/phone_numbers/search' },
  ),
  {
    path: '/webhook_logs',
    root: 'webhook_logs',
    columns: words(`
  id created_at owner_id owner_type outgoing_webhook_id lead_id call_id buyer_id offer_id
  request_method request_url request_headers request_body code response_headers response_body
  started_at duration notes
`),
  },
];
