import { sql, statement } from '../../db/sql';

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
