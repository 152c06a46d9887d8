import { words } from './reference';
import { USED } from './reference-columns';

// The closed lists of values of the reference.

export interface ReferenceValues {
  /**
   * Method and path of an operation that takes the value, and the parameter or field; a dot leads
   * further in.
   */
  of: string;
  name: string;
  values: (string | number)[];
  /** Other values are not allowed. */
  exact?: true;
  default?: unknown;
  minimum?: number;
  maximum?: number;
}

export const VALUES: ReferenceValues[] = [
  {
    of: 'get /buyer_groups',
    name: 'order',
    values: words(`
  name maxed_out weight tier cap_reset_at time_zone created_at updated_at paused paused_at
  paused_by_user_id unpaused_at user_updated_at dial_buyers_type call_limits.in_progress_count
  call_limits.in_progress_used
`).concat(USED.map((name) => `call_limits.${name}`)),
  },
  {
    of: 'get /buyers',
    name: 'order',
    values: words(
      `id name calls_count recent_calls_count outgoing_webhooks_count paused number created_at
      last_call_at tier weight time_zone user_buyer_id`,
    ).concat(USED),
  },
  { of: 'get /buyers', name: 'order_dir', values: ['asc', 'desc'], exact: true },
  { of: 'get /buyers', name: 'serializer', values: ['buyer', 'buyer_grid', ''] },
  { of: 'get /buyers', name: 'per_page', values: [], default: 25 },
  { of: 'post /buyers', name: 'route_by_type', values: words('tier revenue epc') },
  {
    of: 'post /buyers',
    name: 'display_caller_id_type',
    values: words('display_caller_id display_fake_caller_id display_service_number_id'),
  },
  { of: 'post /buyers', name: 'timeout_seconds', values: [], default: 120, minimum: 12 },
  {
    of: 'post /buyers',
    name: 'business_hours_schedule.schedule.day',
    values: [],
    minimum: 0,
    maximum: 6,
  },
  {
    of: 'post /buyers',
    name: 'buyer_conversions_schedule.schedule.day',
    values: [],
    minimum: 0,
    maximum: 6,
  },
  {
    of: 'post /buyer_groups',
    name: 'dial_buyers_type',
    values: words('sequentially simultaneously'),
    exact: true,
  },
  {
    of: 'post /buyer_suppression_files',
    name: 'apply_block_or_unblock',
    values: words('block unblock'),
  },
  { of: 'post /leads', name: 'apply_to', values: ['calls'], exact: true },
  {
    of: 'get /leads',
    name: 'status',
    values: words(
      `queue scheduled waiting running completed completed_attempted completed_connected
      completed_converted exceeded_max_calls expired dnc failure disabled blocked opt_out`,
    ),
  },
  { of: 'get /phone_numbers/search', name: 'country', values: [], default: 'US' },
  { of: 'post /phone_numbers', name: 'country', values: words('AU CA GB US') },
  { of: 'post /phone_numbers', name: 'forward_type', values: words('offer_id buyer_id') },
  { of: 'post /outgoing_webhooks', name: 'method', values: words('get post put patch delete') },
  {
    of: 'post /outgoing_webhooks',
    name: 'trigger_type',
    values: words(
      `new_lead_created lead_changed lead_opted_out new_call_started buyer_dialled buyer_answered
      buyer_converted buyer_did_not_convert offer_converted call_changed every_call agent_online
      agent_offline contact_fields_changed manual`,
    ),
  },
];
