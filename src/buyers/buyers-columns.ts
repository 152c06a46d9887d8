import { capColumns, limitsJoin, openHoursJoin, usedSql } from './cap-columns';
import { commonColumns, type Projection, type SortKey } from '../db/projection';
import { CAPS, METRICS } from './caps';

const HOURLY_LIMITS = METRICS.map(
  (metric) => `'${metric}_hourly_limit', x.${metric}_hourly_limit`,
).join(', ');

/** The buyer's current conversion: the first of the first time frame that is open now. */
const CURRENT_CONVERSION_JOIN = `LEFT JOIN LATERAL (SELECT x.* FROM buyer_conversions x WHERE x.company_id = t.company_id AND x.buyer_id = t.id
  AND is_open(x.open_minutes, local_minute_of_week({now}::timestamptz, l.zone)) ORDER BY x.time_frame, x.position LIMIT 1) c ON true`;

const BUSINESS_HOURS = `coalesce((SELECT json_agg(json_strip_nulls(json_build_object(${HOURLY_LIMITS}, 'schedule', x.schedule)) ORDER BY x.position)
  FROM buyer_business_hours x WHERE x.company_id = t.company_id AND x.buyer_id = t.id), '[]')`;

const CONVERSIONS = `coalesce((SELECT json_agg(json_build_object('buyer_conversions_attributes', f.conversions, 'schedule', f.schedule) ORDER BY f.time_frame) FROM (
  SELECT x.time_frame, (array_agg(x.schedule))[1] AS schedule, json_agg(json_build_object('name', x.name, 'conversion_type', x.conversion_type, 'duration', x.duration,
    'revenue', x.revenue, 'revenue_min', x.revenue_min, 'revenue_max', x.revenue_max, 'revenue_increment', x.revenue_increment,
    'duplicate_timeframe', x.duplicate_timeframe, 'token_values', x.token_values, 'attribution_token_values', x.attribution_token_values) ORDER BY x.position) AS conversions
  FROM buyer_conversions x WHERE x.company_id = t.company_id AND x.buyer_id = t.id GROUP BY x.time_frame) f), '[]')`;

/** "key:value" texts as an object; the last of two equal keys counts. */
const hash = (texts: string) =>
  `CASE WHEN cardinality(${texts}) > 0 THEN (SELECT json_object_agg(k, v) FROM (SELECT DISTINCT ON (split_part(p, ':', 1)) split_part(p, ':', 1) AS k, substr(p, strpos(p, ':') + 1) AS v
  FROM unnest(${texts}) WITH ORDINALITY AS u(p, n) ORDER BY split_part(p, ':', 1), n DESC) pairs) ELSE '{}' END`;

const groups = (
  column: string,
) => `ARRAY(SELECT g.${column} FROM buyer_group_members m JOIN buyer_groups g ON g.company_id = m.company_id AND g.id = m.buyer_group_id
  WHERE m.company_id = t.company_id AND m.buyer_id = t.id ORDER BY g.id)`;

const listId = (list: string) => `CASE WHEN cardinality(t.${list}) > 0 THEN t.id END`;

export const projection = {
  schema: 'Buyer',
  singular: 'buyer',
  plural: 'buyers',
  joins: {
    l: limitsJoin('buyer_id'),
    h: openHoursJoin('h'),
    c: CURRENT_CONVERSION_JOIN,
  },
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.number, '') || E'\\n' || coalesce(t.user_buyer_id, '') || E'\\n' || coalesce(t.email, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('buyers'),
    type: `'Buyer'`,
    name: true,
    context_menu_name: `nullif(concat_ws(' ', t.name, '(' || t.number || ')'), '')`,
    email: true,
    number: true,
    paused: true,
    time_zone: true,
    user_buyer_id: true,
    bid_price: 'c.revenue',
    route_by_type: true,
    buyer_type: true,
    buyer_group_ids: groups('id'),
    buyer_group_names: groups('name'),
    token_values: `coalesce(c.token_values, '{}')`,
    token_values_hash: hash('c.token_values'),
    attribution_token_values: `coalesce(c.attribution_token_values, '{}')`,
    attribution_token_values_hash: hash('c.attribution_token_values'),
    last_call_at: 'l.last_call_at',
    weight: true,
    tier: true,
    timeout_seconds: true,
    dtmf_tones: true,
    ...capColumns('h'),
    current_conversion_revenue_max: 'c.revenue_max',
    current_conversion_revenue_min: 'c.revenue_min',
    current_conversion_revenue_increment: 'c.revenue_increment',
    current_conversion_revenue: 'c.revenue',
    current_conversion_duration: 'c.duration',
    current_conversion_duplicate_timeframe: 'c.duplicate_timeframe',
    current_conversion_name: 'c.name',
    current_conversion_token_value_ids: `coalesce(c.token_value_ids, '{}')`,
    current_conversion_attribution_token_value_ids: `coalesce(c.attribution_token_value_ids, '{}')`,
    ping_timeout_seconds: true,
    buyer_suppression_ids: `ARRAY(SELECT a.buyer_suppression_id FROM buyer_suppression_buyers a WHERE a.company_id = t.company_id AND a.buyer_id = t.id ORDER BY 1)`,
    record_token_filter_id: listId('record_token_filter_data'),
    record_token_filter_data_count: `cardinality(t.record_token_filter_data)`,
    record_token_filter_data: true,
    record_token_additional_id: listId('record_token_additional_data'),
    record_token_additional_data_count: `cardinality(t.record_token_additional_data)`,
    record_token_additional_data: true,
    business_hours_schedule: BUSINESS_HOURS,
    buyer_conversions_schedule: CONVERSIONS,
    record_calls: true,
    press_one_to_accept: true,
    display_caller_id_type: true,
    display_service_number_id: true,
    epc_timeframe: true,
    epc_assumed_amount: true,
    epc_assumed_calls_count: true,
    buyer_fleet_id: true,
    call_limit_id: 'l.id',
    current_conversion_id: 'c.id',
    buyer_conversion_ids: `ARRAY(SELECT x.id FROM buyer_conversions x WHERE x.company_id = t.company_id AND x.buyer_id = t.id ORDER BY x.time_frame, x.position)`,
    paused_by_user_id: true,
    team_ids: `ARRAY(SELECT a.access_control_list_id FROM access_control_list_buyers a WHERE a.company_id = t.company_id AND a.buyer_id = t.id ORDER BY 1)`,
  },
} as const satisfies Projection<'Buyer', 'buyer', 'buyers'>;

const own = (column: string, type: SortKey['type'], nullable = false): SortKey => ({
  sql: `t.${column}`,
  type,
  nullable,
});

export const orders: Record<string, SortKey> = {
  name: own('name', 'text', true),
  calls_count: { sql: 'coalesce(l.calls_count, 0)', type: 'bigint' },
  // Those of today.
  recent_calls_count: { sql: usedSql('attempt_daily_used'), type: 'bigint' },
  outgoing_webhooks_count: own('outgoing_webhooks_count', 'bigint'),
  paused: own('paused', 'boolean'),
  number: own('number', 'text', true),
  created_at: own('created_at', 'timestamptz'),
  last_call_at: { sql: 'l.last_call_at', type: 'timestamptz', nullable: true },
  tier: own('tier', 'double precision'),
  weight: own('weight', 'double precision'),
  time_zone: own('time_zone', 'text'),
  user_buyer_id: own('user_buyer_id', 'text', true),
  ...Object.fromEntries(
    CAPS.map(({ used }) => [used, { sql: usedSql(used), type: 'numeric' } satisfies SortKey]),
  ),
};

export const filters = { number: 't.number = {number}', paused: 't.paused = {paused}' };
