import { sql, statement } from '../../../data/sql';

/** The first conversion of the first time frame that is open now. */
export const FIND_CURRENT_CONVERSION = statement(
  'buyers.find_current_conversion',
  sql`
    SELECT c.id
    FROM buyer_conversions c
    JOIN call_limits l ON l.company_id = c.company_id AND l.buyer_id = c.buyer_id
    WHERE c.company_id = {company_id}
      AND c.buyer_id = {buyer_id}
      AND is_open(c.open_minutes, local_minute_of_week({now}, l.zone))
    ORDER BY c.time_frame, c.position
    LIMIT 1`,
  { prepared: false },
);

export const NEXT_TOKEN_VALUE_IDS = statement(
  'buyers.next_token_value_ids',
  sql`SELECT nextval('token_value_ids') AS id FROM generate_series(1, {count}::int)`,
  { prepared: false },
);
