import { CAPS, METRICS, type Interval, type Metric, type UsedName } from '../../caps/caps';
import { sql, SqlText, statement } from '../../../data/sql';
import type { Limits } from '../caps';

// Settings of buyers, groups and traffic sources that a candidate of routing does not have.

const LIMITS = new SqlText(
  [...CAPS.map(({ limit }) => limit), 'concurrency_cap_limit']
    .map((limit) => `'${limit}', l.${limit}`)
    .join(',\n'),
);

const HOURLY_LIMITS = new SqlText(
  METRICS.map((metric) => `'${metric}_hourly_limit', x.${metric}_hourly_limit`).join(',\n'),
);

/** Columns of `owners`: when its present windows began. */
const WINDOWS: Record<Interval, string> = {
  total: 'l.ever',
  monthly: 'l.month',
  daily: 'l.day',
  hourly: 'l.hour',
};

const toUse = (metric: Metric): string => (metric === 'attempt' ? 'own.attempt' : `u.${metric}`);

const USED = new SqlText(
  CAPS.map(
    ({ metric, interval, used }) =>
      `'${used}', sum(${toUse(metric)}) FILTER (WHERE u.at >= ${WINDOWS[interval]})`,
  ).join(',\n'),
);

/**
 * A buyer has `buyer_id`, a group `buyer_group_id`, a traffic source `traffic_source_id`. Caps
 * without a limit, and unused ones, are absent.
 */
interface OwnerCaps {
  buyer_id: number | null;
  buyer_group_id: number | null;
  traffic_source_id: number | null;
  limits: Limits;
  used: Partial<Record<UsedName, number>>;
  /** Dollars that a prepaid buyer could pay at `from`, plus later payments; null for others. */
  funds: number | null;
}

/**
 * The caps of buyers, groups and all traffic sources, and their usage at `from`: counted from the
 * calls since `since`, in the hour, day and month of the owner's zone that contain `from`.
 *
 * `uses` has a row for each attempt, connection, conversion and payout. Several buyers of a group
 * that are dialed at once count as one attempt of the group; for a source, each call counts as one.
 */
export const CAPS_AND_USE = statement(
  'routing.caps_and_use',
  sql`
    WITH attempts AS NOT MATERIALIZED (
      SELECT a.*
      FROM call_attempts a
      WHERE a.company_id = {company_id} AND a.buyer_id = ANY({buyer_ids}::bigint[])
        AND a.created_at >= {since}::timestamptz
    ),
    calls_of_sources AS NOT MATERIALIZED (
      SELECT c.*
      FROM call_limits l
      JOIN calls c ON c.company_id = l.company_id AND c.traffic_source_id = l.traffic_source_id
      WHERE l.company_id = {company_id} AND l.traffic_source_id IS NOT NULL
        AND c.created_at >= {since}::timestamptz AND c.created_at < {from}::timestamptz
        AND c.deleted_at IS NULL
    ),
    uses AS MATERIALIZED (
      SELECT
        a.buyer_id,
        a.buyer_group_id,
        NULL::bigint AS traffic_source_id,
        a.created_at AS at,
        1 AS attempt,
        CASE
          WHEN row_number() OVER (
            PARTITION BY a.call_id, a.round, a.buyer_group_id ORDER BY a.id
          ) = 1 THEN 1
          ELSE 0
        END AS group_attempt,
        0 AS connection,
        0 AS buyer_conversion,
        0::numeric AS revenue,
        0::numeric AS earned_revenue
      FROM attempts a
      WHERE a.created_at < {from}::timestamptz
      UNION ALL
      SELECT a.buyer_id, a.buyer_group_id, NULL, a.connected_at, 0, 0, 1, 0, 0, 0
      FROM attempts a
      WHERE a.connected_at < {from}::timestamptz
      UNION ALL
      SELECT v.buyer_id, a.buyer_group_id, NULL, v.created_at, 0, 0, 0, 1, v.revenue, v.revenue
      FROM attempts a
      JOIN conversions v
        ON v.company_id = a.company_id AND v.call_id = a.call_id AND v.buyer_id = a.buyer_id
        AND v.returned_at IS NULL
      WHERE v.created_at < {from}::timestamptz
      UNION ALL
      SELECT a.buyer_id, a.buyer_group_id, NULL, c.ended_at, 0, 0, 0, 0, 0, -c.payout
      FROM attempts a
      JOIN calls c ON c.company_id = a.company_id AND c.id = a.call_id AND c.buyer_id = a.buyer_id
      WHERE c.payout <> 0 AND c.ended_at < {from}::timestamptz
      UNION ALL
      SELECT NULL, NULL, c.traffic_source_id, c.created_at, 1, 0, 0, 0, 0, 0
      FROM calls_of_sources c
      WHERE c.direction = 'inbound'
      UNION ALL
      SELECT NULL, NULL, c.traffic_source_id, c.connected_at, 0, 0, 1, 0, 0, 0
      FROM calls_of_sources c
      WHERE c.connected_at < {from}::timestamptz
      UNION ALL
      SELECT
        NULL, NULL, c.traffic_source_id, c.ended_at, 0, 0, 0, c.traffic_source_converted::int,
        c.revenue, c.revenue - c.payout
      FROM calls_of_sources c
      WHERE c.ended_at < {from}::timestamptz
    ),
    owners AS (
      SELECT
        l.*,
        date_trunc('hour', {from}::timestamptz, l.zone) AS hour,
        date_trunc('day', {from}::timestamptz AT TIME ZONE l.zone) AT TIME ZONE l.zone AS day,
        date_trunc('month', {from}::timestamptz AT TIME ZONE l.zone) AT TIME ZONE l.zone AS month,
        CASE
          WHEN l.totals_reset_at <= {from}::timestamptz THEN l.totals_reset_at
          ELSE '-infinity'
        END AS ever
      FROM call_limits l
      WHERE l.company_id = {company_id}
        AND (l.buyer_id = ANY({buyer_ids}::bigint[])
          OR l.buyer_group_id = ANY({group_ids}::bigint[])
          OR l.traffic_source_id IS NOT NULL)
    )
    SELECT
      l.buyer_id::float8 AS buyer_id,
      l.buyer_group_id::float8 AS buyer_group_id,
      l.traffic_source_id::float8 AS traffic_source_id,
      l.zone,
      json_strip_nulls(json_build_object(${LIMITS})) AS limits,
      (
        SELECT json_strip_nulls(json_build_object(${USED}))
        FROM uses u
        CROSS JOIN LATERAL (
          SELECT
            CASE WHEN l.buyer_group_id IS NULL THEN u.attempt ELSE u.group_attempt END AS attempt
        ) own
        WHERE u.buyer_id = l.buyer_id OR u.buyer_group_id = l.buyer_group_id
          OR u.traffic_source_id = l.traffic_source_id
      ) AS used,
      (
        l.balance + l.credit_limit - coalesce(
          (
            SELECT sum(e.amount)
            FROM account_entries e
            WHERE l.balance IS NOT NULL
              AND e.company_id = {company_id}
              AND e.buyer_id = l.buyer_id
              AND e.created_at >= {from}::timestamptz
              AND e.call_id IS NOT NULL
          ),
          0
        )
      )::float8 AS funds
    FROM owners l
  `,
  { prepared: false, nullable: ['buyer_id', 'buyer_group_id', 'traffic_source_id', 'funds'] },
).returning<OwnerCaps>();

export const BUSINESS_HOURS = statement(
  'routing.business_hours',
  sql`
    SELECT
      x.buyer_id::float8 AS buyer_id,
      x.open_minutes AS open,
      json_strip_nulls(json_build_object(${HOURLY_LIMITS})) AS limits
    FROM buyer_business_hours x
    WHERE x.company_id = {company_id} AND x.buyer_id = ANY({buyer_ids}::bigint[])
    ORDER BY x.buyer_id, x.position
  `,
  { prepared: false },
).returning<{ buyer_id: number; open: number[]; limits: Limits }>();

export const CONVERSIONS = statement(
  'routing.conversions',
  sql`
    SELECT
      x.buyer_id::float8 AS buyer_id,
      x.time_frame,
      x.open_minutes AS open,
      x.conversion_type,
      x.duration,
      x.revenue::float8 AS revenue,
      x.duplicate_timeframe,
      x.token_values
    FROM buyer_conversions x
    WHERE x.company_id = {company_id} AND x.buyer_id = ANY({buyer_ids}::bigint[])
    ORDER BY x.buyer_id, x.time_frame, x.position
  `,
  { prepared: false },
).returning<{
  buyer_id: number;
  open: number[];
  token_values: string[];
  revenue: number;
  conversion_type: 'duration' | 'postback';
}>();
