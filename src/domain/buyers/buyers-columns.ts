import { noun, selectIds } from '../../api/records/noun';
import { capColumns, limitsJoin, NOW, openHoursJoin, usedSql } from '../caps/cap-columns';
import { CAPS, METRICS, type Metric } from '../caps/caps';
import { ACCOUNT_SUMS, sumAccount } from '../money/sum-account';
import { type SortKey } from '../../data/projection/list-statements';

const OF_BUYER = 'x.company_id = t.company_id AND x.buyer_id = t.id';

/** The current conversion is the first of the first time frame that is open now. */
const CURRENT_CONVERSION_JOIN = `LEFT JOIN LATERAL (
    SELECT x.*
    FROM buyer_conversions x
    WHERE ${OF_BUYER}
      AND is_open(x.open_minutes, local_minute_of_week(${NOW}, l.zone))
    ORDER BY x.time_frame, x.position
    LIMIT 1
  ) c ON true`;

/** Its entries are open in turn; without any it is always open. */
const CLOSED = `h.position IS NULL
  AND EXISTS (SELECT FROM buyer_business_hours x WHERE ${OF_BUYER})`;

const OPENS_AT = `CASE WHEN h.position IS NULL THEN (
    SELECT min(next_opening(x.open_minutes, l.zone, ${NOW}))
    FROM buyer_business_hours x
    WHERE ${OF_BUYER}
  ) END`;

const hoursWith = (metrics: readonly Metric[]) => {
  const limits = metrics.map((metric) => `'${metric}_hourly_limit', x.${metric}_hourly_limit`);
  return `coalesce(
  (
    SELECT json_agg(
      json_strip_nulls(json_build_object(${limits.join(', ')}, 'schedule', x.schedule))
      ORDER BY x.position
    )
    FROM buyer_business_hours x
    WHERE ${OF_BUYER}
  ),
  '[]'
)`;
};

const CONVERSION = [
  'name',
  'conversion_type',
  'duration',
  'revenue',
  'revenue_min',
  'revenue_max',
  'revenue_increment',
  'duplicate_timeframe',
  'token_values',
  'attribution_token_values',
]
  .map((column) => `'${column}', x.${column}`)
  .join(', ');

const CONVERSIONS = `coalesce(
  (
    SELECT json_agg(
      json_build_object(
        'buyer_conversions_attributes', frame.conversions,
        'schedule', frame.schedule
      )
      ORDER BY frame.time_frame
    )
    FROM (
      SELECT
        x.time_frame,
        (array_agg(x.schedule))[1] AS schedule,
        json_agg(json_build_object(${CONVERSION}) ORDER BY x.position) AS conversions
      FROM buyer_conversions x
      WHERE ${OF_BUYER}
      GROUP BY x.time_frame
    ) frame
  ),
  '[]'
)`;

/** Texts like "key:value" as an object; the last of two equal keys counts. */
const hash = (texts: string) => `CASE
  WHEN cardinality(${texts}) > 0 THEN (
    SELECT json_object_agg(key, value)
    FROM (
      SELECT DISTINCT ON (split_part(pair, ':', 1))
        split_part(pair, ':', 1) AS key,
        substr(pair, strpos(pair, ':') + 1) AS value
      FROM unnest(${texts}) WITH ORDINALITY AS given (pair, n)
      ORDER BY split_part(pair, ':', 1), n DESC
    ) pairs
  )
  ELSE '{}'
END`;

const groups = (column: string) => `ARRAY(
  SELECT g.${column}
  FROM buyer_group_members m
  JOIN buyer_groups g ON g.company_id = m.company_id AND g.id = m.buyer_group_id
  WHERE m.company_id = t.company_id AND m.buyer_id = t.id
  ORDER BY g.id
)`;

const CONVERSION_IDS = `ARRAY(
  SELECT x.id FROM buyer_conversions x WHERE ${OF_BUYER} ORDER BY x.time_frame, x.position
)`;

const listId = (list: string) => `CASE WHEN cardinality(t.${list}) > 0 THEN t.id END`;

export const buyer = noun({
  schema: 'Buyer',
  singular: 'buyer',
  plural: 'buyers',
  joins: {
    l: limitsJoin('buyer_id'),
    h: openHoursJoin('h'),
    c: CURRENT_CONVERSION_JOIN,
    [ACCOUNT_SUMS]: sumAccount('buyer_id'),
  },
  search: ['name', 'number', 'user_buyer_id', 'email', 'external_record_id'],
  // The revenue that a buyer earns reveals the payouts of traffic sources.
  limited: {
    business_hours_schedule: hoursWith(METRICS.filter((metric) => metric !== 'earned_revenue')),
  },
  computed: {
    context_menu_name: `nullif(concat_ws(' ', t.name, '(' || t.number || ')'), '')`,
    bid_price: 'c.revenue',
    buyer_group_ids: groups('id'),
    buyer_group_names: groups('name'),
    token_values: `coalesce(c.token_values, '{}')`,
    token_values_hash: hash('c.token_values'),
    attribution_token_values: `coalesce(c.attribution_token_values, '{}')`,
    attribution_token_values_hash: hash('c.attribution_token_values'),
    last_call_at: 'l.last_call_at',
    ...capColumns('h'),
    closed: CLOSED,
    opens_at: OPENS_AT,
    prepaid: 'l.balance IS NOT NULL',
    balance: 'l.balance',
    reserved_balance: 'coalesce(l.pending_revenue, 0)',
    credit_limit: 'coalesce(l.credit_limit, 0)',
    balance_low_limit: 'l.balance_low_limit',
    billed_total: `-(${ACCOUNT_SUMS}.calls)`,
    paid_total: `${ACCOUNT_SUMS}.paid`,
    account_balance: `${ACCOUNT_SUMS}.calls + ${ACCOUNT_SUMS}.paid`,
    current_conversion_revenue_max: 'c.revenue_max',
    current_conversion_revenue_min: 'c.revenue_min',
    current_conversion_revenue_increment: 'c.revenue_increment',
    current_conversion_revenue: 'c.revenue',
    current_conversion_duration: 'c.duration',
    current_conversion_duplicate_timeframe: 'c.duplicate_timeframe',
    current_conversion_name: 'c.name',
    current_conversion_token_value_ids: `coalesce(c.token_value_ids, '{}')`,
    current_conversion_attribution_token_value_ids: `coalesce(c.attribution_token_value_ids, '{}')`,
    ping_timeout_seconds: 'coalesce(t.ping_timeout_ms / 1000.0, t.ping_timeout_seconds)::float8',
    record_token_filter_id: listId('record_token_filter_data'),
    record_token_filter_data_count: `cardinality(t.record_token_filter_data)`,
    record_token_additional_id: listId('record_token_additional_data'),
    record_token_additional_data_count: `cardinality(t.record_token_additional_data)`,
    business_hours_schedule: hoursWith(METRICS),
    buyer_conversions_schedule: CONVERSIONS,
    call_limit_id: 'l.id',
    current_conversion_id: 'c.id',
    buyer_conversion_ids: CONVERSION_IDS,
    buyer_suppression_ids: selectIds(
      'buyer_suppression_buyers',
      'buyer_id',
      'buyer_suppression_id',
    ),
    team_ids: selectIds('access_control_list_buyers', 'buyer_id', 'access_control_list_id'),
  },
  orders: {
    calls_count: { sql: 'coalesce(l.calls_count, 0)', type: 'bigint' },
    recent_calls_count: { sql: usedSql('attempt_daily_used'), type: 'bigint' },
    outgoing_webhooks_count: { sql: 't.outgoing_webhooks_count', type: 'bigint' },
    ...Object.fromEntries(
      CAPS.map(({ used }) => [used, { sql: usedSql(used), type: 'numeric' } satisfies SortKey]),
    ),
  },
  filters: { number: 't.number = {number}', paused: 't.paused = {paused}' },
  // Locked after the suppression lists and the offers of its teams.
  references: ['buyer_fleet_id', 'display_service_number_id', 'zip_list_id'],
});
export const { projection, orders } = buyer;
