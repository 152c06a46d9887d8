import { sql, statement } from '../../../data/sql';

/** A conversion of a buyer, with its price for a call. */
export interface PayingConversion {
  id: number;
  name: string | null;
  conversion_type: 'duration' | 'postback';
  /** Seconds. */
  duration: number;
  /** Dollars. */
  revenue: number;
  /** Seconds. */
  duplicate_timeframe: number;
  token_values: string[];
  attribution_token_values: string[];
}

/**
 * The conversions of a buyer's time frame that is open at an instant, in their order, as JSON. The
 * buyer and the instant are `wanted.buyer_id` and `wanted.at`.
 */
export const OPEN_CONVERSIONS_JSON = sql`
      SELECT
        coalesce(
          json_agg(
            json_build_object(
              'id', x.id,
              'name', x.name,
              'conversion_type', x.conversion_type,
              'duration', x.duration,
              'revenue', x.revenue,
              'duplicate_timeframe', x.duplicate_timeframe,
              'token_values', x.token_values,
              'attribution_token_values', x.attribution_token_values
            )
            ORDER BY x.position
          ),
          '[]'
        )
      FROM (
        SELECT b.*, min(b.time_frame) OVER () AS first_time_frame
        FROM buyer_conversions b
        JOIN call_limits l ON l.company_id = b.company_id AND l.buyer_id = b.buyer_id
        WHERE b.company_id = {company_id}
          AND b.buyer_id = wanted.buyer_id
          AND is_open(b.open_minutes, local_minute_of_week(wanted.at, l.zone))
      ) x
      WHERE x.time_frame = x.first_time_frame`;

export const OPEN_CONVERSIONS = statement(
  'money.open_conversions',
  sql`
    SELECT (${OPEN_CONVERSIONS_JSON}
    ) AS conversions
    FROM (SELECT {buyer_id}::bigint AS buyer_id, {at}::timestamptz AS at) wanted
  `,
  { prepared: true },
).returning<{ conversions: PayingConversion[] }>();
