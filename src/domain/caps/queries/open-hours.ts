import { sql } from '../../../data/sql';

/** The entry of the business hours of buyer `b` that is open now, with its hourly `limits`. */
export const OPEN_HOURS = sql`
  SELECT x.*, hourly_limits_of(x) AS limits
  FROM buyer_business_hours x
  WHERE x.company_id = b.company_id AND x.buyer_id = b.id
    AND is_open(x.open_minutes, local_minute_of_week({now}::timestamptz, l.zone))
  ORDER BY x.position
  LIMIT 1
`;
