// The reference that this API is compatible with, as data: its operations and their parameters. The
// columns of its resources are in tests/contract/reference-columns.ts, its closed lists in
// tests/contract/reference-values.ts. Details that the reference leaves open, and that were decided
// here, are marked `settled`.

export const words = (text: string): string[] => text.trim().split(/[\s,]+/);
export const combineNames = (
  pattern: (metric: string, interval: string) => string,
  metrics: string,
  intervals: string,
): string[] =>
  words(metrics).flatMap((metric) => words(intervals).map((interval) => pattern(metric, interval)));

export interface ReferenceOperation {
  method: 'get' | 'post' | 'put' | 'delete';
  /** Below /api/v1, parameters with a colon. */
  path: string;
  query?: string[];
  /** Fields of the body; a dot leads into the objects of a field or of its list. */
  body?: string[];
  /** Fields that must be given. */
  required?: string[];
  /** Fields that may be blank. */
  blank?: string[];
  csv?: true;
  /** Not in the reference: decided where it says "not shown". */
  settled?: true;
}

const LIST = words('page per_page created_at_from created_at_to fulltext time_zone columns root');
const ORDERED = [...LIST, ...words('order order_dir')];
const WITH_IDS = ['ids', ...LIST];

const BUYER = words(`
  user_buyer_id number name timeout_seconds dtmf_tones time_zone buyer_suppression_ids paused
  record_calls press_one_to_accept generate_team team_users_emails team_offer_ids
  record_token_filter_list record_token_additional_list route_by_type tier weight epc_timeframe
  epc_assumed_amount epc_assumed_calls_count display_caller_id_type display_service_number_id
  concurrency_cap_limit business_hours_schedule business_hours_schedule.attempt_hourly_limit
  business_hours_schedule.connection_hourly_limit
  business_hours_schedule.buyer_conversion_hourly_limit
  business_hours_schedule.revenue_hourly_limit business_hours_schedule.schedule
  business_hours_schedule.schedule.day business_hours_schedule.schedule.times
  buyer_conversions_schedule buyer_conversions_schedule.buyer_conversions_attributes
  buyer_conversions_schedule.buyer_conversions_attributes.name
  buyer_conversions_schedule.buyer_conversions_attributes.duration
  buyer_conversions_schedule.buyer_conversions_attributes.revenue
  buyer_conversions_schedule.buyer_conversions_attributes.duplicate_timeframe
  buyer_conversions_schedule.schedule buyer_conversions_schedule.schedule.day
  buyer_conversions_schedule.schedule.times current_conversion_revenue_max
  current_conversion_revenue_min current_conversion_revenue_increment current_conversion_revenue
  current_conversion_duration current_conversion_duplicate_timeframe current_conversion_name
  current_conversion_token_values current_conversion_attribution_token_values serializer
`).concat(
  combineNames(
    (metric, interval) => `${metric}_${interval}_limit`,
    'attempt connection buyer_conversion revenue',
    'total monthly daily',
  ),
);

const GROUP = words(`
  name paused reset_total_caps dial_buyers_type buyer_ids add_buyer_ids remove_buyer_ids
  add_user_buyer_ids remove_user_buyer_ids tier weight time_zone concurrency_cap
  external_record_id generate_team team_users_emails team_offer_ids team_ids grant_team_offer_id
  revoke_team_offer_id
`).concat(
  combineNames(
    (metric, interval) => `${metric}_${interval}_limit`,
    'attempt connection buyer_conversion revenue',
    'total monthly daily hourly',
  ),
);

const BUYER_BLANK = words(`
  dtmf_tones buyer_suppression_ids press_one_to_accept team_users_emails team_offer_ids
  record_token_filter_list record_token_additional_list tier weight epc_timeframe
  epc_assumed_amount epc_assumed_calls_count display_service_number_id concurrency_cap_limit
  current_conversion_token_values current_conversion_attribution_token_values
`).concat(BUYER.filter((name) => /_(total|monthly|daily)_limit$/.test(name)));
const GROUP_BLANK = words(`
  buyer_ids time_zone concurrency_cap external_record_id team_users_emails team_offer_ids team_ids
  grant_team_offer_id revoke_team_offer_id
`).concat(GROUP.filter((name) => name.endsWith('_limit')));

const FLEET = words('name user_fleet_id description');
const SUPPRESSION = words(
  `name caller_id_column_name buyer_ids headers add_buyer_ids remove_buyer_ids add_user_buyer_ids
  remove_user_buyer_ids`,
);
const SUPPRESSION_FILE = words(
  'name buyer_suppression_id apply_block_or_unblock import_file caller_id_column_name headers',
);
const MESSAGE = words('content agent_status_id buyer_ids buyer_group_ids call_center_ids');
const TEAM = words(
  'name users_emails external_record_id permissions superuser buyer_ids buyer_group_ids offer_ids',
);
const LEAD = words(`
  lead_token caller_id email contact_field_type schedule_callback_at schedule_callback_in_seconds
  update_all_matching_leads apply_to unblock_contact blocked assign_service_number
  assign_trackdrive_number assign_sms_number expire_existing delete_existing update_only
  lead_priority restart_schedule auto_format_nested_fields next_action_at hours_to_expire
  max_contact_attempts data
`);
const WEBHOOK = words('name trigger_type url method');
const POST_CALL = words('revenue add_revenue payout buyer_converted post_call_tokens data hang_up');
const PURCHASE = words(
  'requested_number offer_id country toll_free traffic_source_id forward_type buyer_id',
);
const FIRE = words('lead_id call_id created_at updated_at');
const LEAD_FILTERS = words(`
  offer_id schedule_id traffic_source_id buyer_id status number email has_next_action
  buyer_converted opt_out next_action_at_from next_action_at_to
`);
const CALL_FILTERS = words(`
  created_at_from created_at_to ended_at_from ended_at_to offer_id buyer_id traffic_source_id
  schedule_id number_id buyer_converted offer_converted either_converted in_progress has_recording
  no_buyer token_key token_value
`);

type Rest = Omit<ReferenceOperation, 'method' | 'path'>;
const operation = (
  method: ReferenceOperation['method'],
  path: string,
  rest: Rest = {},
): ReferenceOperation => ({ method, path, ...rest });
const get = (path: string, query: string[] = [], rest: Rest = {}) =>
  operation('get', path, { query, ...rest });
const post = (path: string, body: string[] = [], rest: Rest = {}) =>
  operation('post', path, { body, ...rest });
const put = (path: string, body: string[] = [], rest: Rest = {}) =>
  operation('put', path, { body, ...rest });
const remove = (path: string, query: string[] = [], rest: Rest = {}) =>
  operation('delete', path, { query, ...rest });
const settled = true;

export const OPERATIONS: ReferenceOperation[] = [
  get('/buyers', ['serializer', 'number', 'paused', ...ORDERED]),
  post('/buyers', [...BUYER, 'copy_another_buyer'], { blank: BUYER_BLANK }),
  put('/buyers/:id', [...BUYER, 'reset_total_caps'], { blank: BUYER_BLANK }),
  remove('/buyers/:id', ['serializer']),
  get('/buyers/new', ['serializer']),
  get('/buyers/:id', ['serializer'], { settled }),
  get('/buyers/:user_buyer_id/by_user_buyer_id', ['serializer'], { settled }),

  get('/buyer_groups', ORDERED, { csv: true }),
  get('/buyer_groups/new'),
  get('/buyer_groups/:id'),
  post('/buyer_groups', GROUP, { required: ['name'] }),
  put('/buyer_groups/:id', GROUP, { blank: GROUP_BLANK }),
  remove('/buyer_groups/:id'),

  get('/buyer_fleets', [...LIST, 'order_dir'], { csv: true }),
  get('/buyer_fleets/new'),
  get('/buyer_fleets/:id'),
  post('/buyer_fleets', FLEET, { required: ['name', 'user_fleet_id'] }),
  put('/buyer_fleets/:id', FLEET),
  remove('/buyer_fleets/:id'),

  get('/buyer_suppressions', WITH_IDS),
  get('/buyer_suppressions/new'),
  get('/buyer_suppressions/:id'),
  post('/buyer_suppressions', [...SUPPRESSION, 'import_file'], {
    required: ['name'],
    blank: ['caller_id_column_name'],
  }),
  put('/buyer_suppressions/:id', SUPPRESSION, { blank: ['caller_id_column_name'] }),
  remove('/buyer_suppressions/:id', [], { settled }),
  post('/buyer_suppressions/:id/caller_block', ['caller_ids']),
  post('/buyer_suppressions/:id/caller_unblock', ['caller_ids']),
  get('/buyer_suppressions/:id/caller_ids', ['caller_id'], { settled }),

  get('/buyer_suppression_files', WITH_IDS),
  get('/buyer_suppression_files/new', SUPPRESSION_FILE),
  post('/buyer_suppression_files', SUPPRESSION_FILE),
  get('/buyer_suppression_files/:id'),
  put('/buyer_suppression_files/:id', SUPPRESSION_FILE),

  get('/agent_messages', WITH_IDS),
  get('/agent_messages/new', ['content', 'agent_status_id']),
  post('/agent_messages', MESSAGE, { required: ['content'] }),
  get('/agent_messages/:id'),
  put('/agent_messages/:id', MESSAGE, { blank: ['content'] }),
  remove('/agent_messages/:id'),

  get('/access_control_lists', WITH_IDS),
  get('/access_control_lists/new'),
  post('/access_control_lists', TEAM, { settled }),
  get('/access_control_lists/:id'),
  put('/access_control_lists/:id', TEAM, { settled }),
  remove('/access_control_lists/:id'),

  get('/agent_status_timestamps', LIST),

  get('/webhook_manual_fires', WITH_IDS, { settled }),
  get('/webhook_manual_fires/new', FIRE),
  post('/webhook_manual_fires', [...FIRE, 'outgoing_webhook_id', 'buyer_conversion_id'], {
    blank: [...FIRE, 'outgoing_webhook_id', 'buyer_conversion_id'],
  }),
  get('/webhook_manual_fires/:id'),

  post('/leads', LEAD, { query: LEAD }),
  get('/leads/new'),
  put('/leads/:caller_id/caller_opt_out', [], { query: ['lead_token'] }),
  get('/leads/:caller_id/caller_opt_out', ['lead_token']),
  post('/leads/:caller_id/caller_remove', [], { query: ['lead_token'] }),
  remove('/leads/:caller_id/caller_remove', ['lead_token']),
  get('/leads/:caller_id/caller_remove', ['lead_token']),
  put('/leads/:caller_id/caller_move_to_end_of_schedule', [], { query: ['lead_token'] }),
  post('/leads/:caller_id/caller_move_to_end_of_schedule', [], { query: ['lead_token'] }),
  get('/leads', [...ORDERED, ...LEAD_FILTERS], { csv: true, settled }),
  get('/leads/:id', [], { settled }),
  put('/leads/:id', [], { settled }),
  remove('/leads/:id/id', [], { settled }),
  get('/leads/:lead_token/:caller_number/by_caller_number', [], { settled }),
  get('/leads/:id/buyer_is_available', [], { settled }),
  post('/leads/capture', ['caller_id'], { settled }),

  get('/phone_numbers/search', ['country', 'toll_free', 'prefix', 'query']),
  get('/phone_numbers/new'),
  get('/phone_numbers', [], { csv: true, settled }),
  post('/phone_numbers', PURCHASE, { query: PURCHASE, settled }),

  get('/collections/time_zone'),
  get('/me', [], { settled }),

  get('/calls', [...LIST, ...CALL_FILTERS], { csv: true, settled }),
  post('/calls', words('from to lead_id schedule_id offer_id'), { settled }),
  post('/calls/update_call/:uuid', POST_CALL, { settled }),
  post('/calls/:id', POST_CALL, { settled }),
  post('/calls/send_key_press', words('id digits data'), { settled }),

  get('/outgoing_webhooks', [], { settled }),
  post('/outgoing_webhooks', WEBHOOK, { settled }),
  get('/outgoing_webhooks/:id', [], { settled }),
  put('/outgoing_webhooks/:id', WEBHOOK, { settled }),
  remove('/outgoing_webhooks/:id', [], { settled }),
  get('/webhook_logs', ['cursor'], { settled }),
  get('/webhook_logs/:id', [], { settled }),

  ...['buyers', 'leads', 'calls', 'offers'].map((name) =>
    get(`/${name}`, [], { csv: true, settled }),
  ),
];
