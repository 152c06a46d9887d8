import type { Schemas } from '../../../platform/contract/contract';
import { sql, SqlText, statement } from '../../../data/sql';
import { CAPS, METRICS } from '../caps';

const LIMITS = new SqlText(['concurrency_cap_limit', ...CAPS.map(({ limit }) => limit)].join(', '));

/** The hourly limits of an entry of business hours `h`, by name. */
const HOURLY_LIMITS_OF_ENTRY = new SqlText(
  METRICS.map((metric) => `'${metric}_hourly_limit', h.${metric}_hourly_limit`).join(', '),
);

const NO_TOTALS = new SqlText(METRICS.map((metric) => `${metric}_total_used = 0`).join(', '));

export const OF_OWNER = sql`(
        buyer_id = {buyer_id} OR buyer_group_id = {buyer_group_id}
        OR traffic_source_id = {traffic_source_id}
      )`;

/** `limits` is a JSON object by column. */
export const OPEN_LIMITS = statement(
  'buyers.open_limits',
  sql`
    INSERT INTO call_limits (
      company_id, buyer_id, buyer_group_id, traffic_source_id, zone, network_limits, ${LIMITS}
    )
    SELECT
      {company_id}, {buyer_id}, {buyer_group_id}, {traffic_source_id}, {zone},
      {network_limits}::jsonb, ${LIMITS}
    FROM jsonb_populate_record(NULL::call_limits, {limits})`,
  { prepared: true },
);

/**
 * Creates the row of caps of a traffic source unless it has one; most have none. Earlier calls were
 * not counted, so their usage is never released.
 */
export const OPEN_LIMITS_OF_SOURCE = statement(
  'buyers.open_limits_of_source',
  sql`
    INSERT INTO call_limits (company_id, traffic_source_id, zone, totals_reset_at)
    VALUES (
      {company_id}, {traffic_source_id}::bigint, {zone},
      {now}::timestamptz - interval '1 millisecond'
    )
    ON CONFLICT (company_id, traffic_source_id) DO NOTHING`,
  { prepared: false },
);

/** Columns that are not in `limits` stay. A changed limit loses its ceiling in `network_limits`. */
export const CHANGE_LIMITS = statement(
  'buyers.change_limits',
  sql`
    UPDATE call_limits l
    SET (${LIMITS}) = (SELECT ${LIMITS} FROM jsonb_populate_record(l, {limits})),
      changed_by = pg_current_xact_id(),
      network_limits = l.network_limits - ARRAY(SELECT jsonb_object_keys({limits}))
    WHERE company_id = {company_id}
      AND ${OF_OWNER}`,
  { prepared: true },
);

/** The highest allowed value of a limit of row l: its ceiling, or else its present value. */
const MAXIMUM = sql`(
        CASE WHEN l.network_limits ? wanted.name THEN l.network_limits ELSE to_jsonb(l) END
          ->>wanted.name
      )::numeric`;

/**
 * For callers that may only lower limits: changes nothing and returns no row if a limit is above
 * its maximum. The first such change of a limit stores its value before as its ceiling.
 */
export const LOWER_LIMITS = statement(
  'buyers.lower_limits',
  sql`
    UPDATE call_limits l
    SET (${LIMITS}) = (SELECT ${LIMITS} FROM jsonb_populate_record(l, {limits})),
      changed_by = pg_current_xact_id(),
      network_limits = (
        SELECT jsonb_object_agg(wanted.name, to_jsonb(l)->wanted.name)
        FROM jsonb_object_keys({limits}) AS wanted(name)
      ) || l.network_limits
    WHERE company_id = {company_id}
      AND ${OF_OWNER}
      AND NOT EXISTS (
        SELECT FROM jsonb_each_text({limits}) AS wanted(name, value)
        WHERE coalesce(wanted.value::numeric, 'Infinity') > ${MAXIMUM}
      )
    RETURNING l.id::text`,
  { prepared: false },
);

/** The limits that LOWER_LIMITS refuses, with their maxima. */
export const FIND_RAISED_LIMITS = statement(
  'buyers.find_raised_limits',
  sql`
    SELECT wanted.name, ${MAXIMUM}::float8 AS maximum
    FROM call_limits l
    CROSS JOIN jsonb_each_text({limits}) AS wanted(name, value)
    WHERE company_id = {company_id}
      AND ${OF_OWNER}
      AND coalesce(wanted.value::numeric, 'Infinity') > ${MAXIMUM}
    ORDER BY 1`,
  { prepared: false },
);

/** The business hours whose hourly limits are the ceiling for new ones; null for no ceiling. */
export const READ_NETWORK_HOURS = statement(
  'buyers.read_network_hours',
  sql`
    SELECT
      CASE
        WHEN l.network_limits ? 'business_hours' THEN l.network_limits->'business_hours'
        ELSE coalesce(
          (
            SELECT jsonb_agg(
              jsonb_build_object(
                'schedule', h.schedule,
                ${HOURLY_LIMITS_OF_ENTRY}
              )
              ORDER BY h.position
            )
            FROM buyer_business_hours h
            WHERE h.company_id = l.company_id AND h.buyer_id = l.buyer_id
          ),
          '[]'
        )
      END AS hours
    FROM call_limits l
    WHERE l.company_id = {company_id} AND l.buyer_id = {buyer_id}`,
  { prepared: false },
).returning<{ hours: Schemas['BusinessHours'][] | null }>();

/** Stores the business hours that are the ceiling; without hours, removes them. */
export const KEEP_NETWORK_HOURS = statement(
  'buyers.keep_network_hours',
  sql`
    UPDATE call_limits
    SET changed_by = pg_current_xact_id(),
      network_limits = CASE
        WHEN {hours}::jsonb IS NULL THEN network_limits - 'business_hours'
        ELSE network_limits || ('{"business_hours":' || {hours}::jsonb::text || '}')::jsonb
      END
    WHERE company_id = {company_id} AND buyer_id = {buyer_id}
      AND ({hours}::jsonb IS NOT NULL OR network_limits ? 'business_hours')`,
  { prepared: false },
);

/** The amount held by calls in progress stays pending: its release does not change the totals. */
export const RESET_TOTALS = statement(
  'buyers.reset_totals_of_caps',
  sql`
    UPDATE call_limits
    SET
      changed_by = pg_current_xact_id(),
      ${NO_TOTALS},
      totals_reset_at = {now}
    WHERE company_id = {company_id}
      AND ${OF_OWNER}`,
  { prepared: false },
);

/**
 * Moves an owner to another time zone. Current windows end at the next hour, day and month of the
 * new zone, and keep their counters.
 */
export const CHANGE_ZONE = statement(
  'buyers.change_zone_of_caps',
  sql`
    UPDATE call_limits
    SET
      changed_by = pg_current_xact_id(),
      zone = {zone},
      hourly_resets_at = CASE
        WHEN hourly_resets_at > {now} THEN next_hour({now}, {zone})
        ELSE hourly_resets_at
      END,
      daily_resets_at = CASE
        WHEN daily_resets_at > {now} THEN next_day({now}, {zone})
        ELSE daily_resets_at
      END,
      monthly_resets_at = CASE
        WHEN monthly_resets_at > {now} THEN next_month({now}, {zone})
        ELSE monthly_resets_at
      END
    WHERE company_id = {company_id}
      AND ${OF_OWNER}`,
  { prepared: false },
);
