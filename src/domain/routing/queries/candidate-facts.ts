import { sql } from '../../../data/sql';

// Parts of statements about candidates: `b` is a buyer or `g` a group, `l` its row of call_limits.

/**
 * The filters of a buyer: the stored ones, then those derived from its states, area codes and ZIP
 * list. Code that evaluates or explains filters gets both.
 */
const FILTERS = sql`
  b.record_token_filter_data
  || CASE
    WHEN b.states <> '{}' THEN ARRAY['geo_state:in ' || array_to_string(b.states, ',')]
  END
  || CASE
    WHEN b.area_codes <> '{}' THEN ARRAY['area_code:in ' || array_to_string(b.area_codes, ',')]
  END
  || (
    SELECT ARRAY['geo_zip:in_list ' || z.name]
    FROM value_lists z
    WHERE z.company_id = b.company_id AND z.id = b.zip_list_id
  )
`;

/** The settings of a buyer, as keys and values of json_build_object. */
export const BUYER_FACTS = sql`
  'id', b.id,
  'name', b.name,
  'paused', b.paused,
  'tier', b.tier,
  'weight', b.weight,
  'number', b.number,
  'time_zone', b.time_zone,
  'buyer_type', b.buyer_type,
  'buyer_fleet_id', b.buyer_fleet_id,
  'timeout_seconds', b.timeout_seconds,
  'dtmf_tones', b.dtmf_tones,
  'sip_headers', b.sip_headers,
  'press_one_to_accept', b.press_one_to_accept,
  'record_calls', b.record_calls,
  'display_caller_id_type', b.display_caller_id_type,
  'route_by_type', b.route_by_type,
  'user_buyer_id', b.user_buyer_id,
  'record_token_additional_data', b.record_token_additional_data,
  'record_token_filter_list', ${FILTERS},
  'zone', l.zone,
  'display_service_number', (
    SELECT '+' || n.phone_number
    FROM numbers n
    WHERE n.company_id = b.company_id AND n.id = b.display_service_number_id
      AND n.deleted_at IS NULL
  )
`;

export const GROUP_FACTS = sql`
  'id', g.id,
  'name', g.name,
  'paused', g.paused,
  'tier', g.tier,
  'weight', g.weight,
  'dial_buyers_type', g.dial_buyers_type,
  'zone', l.zone
`;

/**
 * The conversions of buyer `b` in the time frame that is open now: `revenue`, the highest for one
 * call, and `at_dial`, true when being dialed is paid.
 */
export const PAYS = sql`
  SELECT
    coalesce(max(x.revenue), 0) AS revenue,
    coalesce(
      bool_or(
        x.conversion_type = 'duration' AND x.duration = 0
        AND is_open(x.open_minutes, local_minute_of_week({now}::timestamptz, l.zone))
      ),
      false
    ) AS at_dial
  FROM buyer_conversions x
  WHERE x.company_id = b.company_id AND x.buyer_id = b.id
    AND x.time_frame = (
      SELECT min(y.time_frame)
      FROM buyer_conversions y
      WHERE y.company_id = b.company_id AND y.buyer_id = b.id
        AND is_open(y.open_minutes, local_minute_of_week({now}::timestamptz, l.zone))
    )
`;

/**
 * Earnings per call of buyer `b` over the hours that count; the assumed amount before there were
 * enough calls.
 */
export const EARNINGS_PER_CALL = sql`
  SELECT
    CASE
      WHEN count(*) >= greatest(1, coalesce(b.epc_assumed_calls_count, 1))
        THEN coalesce(sum(v.revenue), 0) / count(*)
      ELSE b.epc_assumed_amount
    END
  FROM call_attempts a
  LEFT JOIN conversions v
    ON v.company_id = a.company_id AND v.call_id = a.call_id AND v.buyer_id = a.buyer_id
    AND v.returned_at IS NULL
  WHERE a.company_id = b.company_id AND a.buyer_id = b.id
    AND a.created_at > {now}::timestamptz - coalesce(b.epc_timeframe, 24) * interval '1 hour'
`;
