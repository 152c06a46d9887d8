import { sql, statement } from '../../db/sql';

export const FIND_LEAD_TOKEN = statement(
  'http.find_lead_token',
  sql`
    SELECT
      k.company_id, company.country, k.offer_id, k.schedule_id,
      coalesce(s.time_zone, o.time_zone) AS zone
    FROM lead_tokens k
    JOIN companies company ON company.id = k.company_id
    LEFT JOIN offers o ON o.company_id = k.company_id AND o.id = k.offer_id
    LEFT JOIN schedules s ON s.company_id = k.company_id AND s.id = k.schedule_id
    WHERE k.token = {token}
  `,
  { prepared: true },
).returning<{ company_id: string; country: string }>();
