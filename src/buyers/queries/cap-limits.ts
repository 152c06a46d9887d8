import { sql, statement } from '../../db/sql';

const LIMITS = sql`
  concurrency_cap_limit,
  attempt_total_limit, attempt_monthly_limit, attempt_daily_limit, attempt_hourly_limit,
  connection_total_limit, connection_monthly_limit, connection_daily_limit,
  connection_hourly_limit,
  buyer_conversion_total_limit, buyer_conversion_monthly_limit, buyer_conversion_daily_limit,
  buyer_conversion_hourly_limit,
  revenue_total_limit, revenue_monthly_limit, revenue_daily_limit, revenue_hourly_limit,
  earned_revenue_total_limit, earned_revenue_monthly_limit, earned_revenue_daily_limit,
  earned_revenue_hourly_limit`;

/** `limits` are a JSON object by column; one of the owner's ids is null. */
export const OPEN_LIMITS = statement(
  'buyers.open_limits',
  sql`
    INSERT INTO call_limits (company_id, buyer_id, buyer_group_id, zone, ${LIMITS})
    SELECT {company_id}, {buyer_id}, {buyer_group_id}, {zone}, ${LIMITS}
    FROM jsonb_populate_record(NULL::call_limits, {limits})`,
  { prepared: true },
);

/** Columns that are not in `limits` stay as they are. */
export const CHANGE_LIMITS = statement(
  'buyers.change_limits',
  sql`
    UPDATE call_limits l
    SET (${LIMITS}) = (SELECT ${LIMITS} FROM jsonb_populate_record(l, {limits}))
    WHERE company_id = {company_id}
      AND (buyer_id = {buyer_id} OR buyer_group_id = {buyer_group_id})`,
  { prepared: true },
);

/** What calls in progress hold stays pending: when released, it is not counted in the totals. */
export const RESET_TOTALS = statement(
  'buyers.reset_totals_of_caps',
  sql`
    UPDATE call_limits
    SET
      attempt_total_used = 0,
      connection_total_used = 0,
      buyer_conversion_total_used = 0,
      revenue_total_used = 0,
      earned_revenue_total_used = 0,
      totals_reset_at = {now}
    WHERE company_id = {company_id}
      AND (buyer_id = {buyer_id} OR buyer_group_id = {buyer_group_id})`,
  { prepared: false },
);

/**
 * Moves an owner to another time zone. Running windows end at the new zone's next hour, day and
 * month, and keep what is used in them.
 */
export const CHANGE_ZONE = statement(
  'buyers.change_zone_of_caps',
  sql`
    UPDATE call_limits
    SET
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
      AND (buyer_id = {buyer_id} OR buyer_group_id = {buyer_group_id})`,
  { prepared: false },
);
