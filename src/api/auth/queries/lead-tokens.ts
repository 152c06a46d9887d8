import type { LeadTokenPower } from '../../../platform/contract/contract';
import { sql, statement } from '../../../data/sql';

export const FIND_LEAD_TOKEN = statement(
  'http.find_lead_token',
  sql`
    SELECT
      k.company_id, company.country, company.contact_countries,
      coalesce(company.contact_prefixes, '{}') AS contact_prefixes,
      k.offer_id, k.schedule_id, k.traffic_source_id, coalesce(s.time_zone, o.time_zone) AS zone,
      company.lead_token_powers AS powers_of_company,
      coalesce(o.lead_token_powers, own.lead_token_powers) AS powers_of_offer
    FROM lead_tokens k
    JOIN companies company ON company.id = k.company_id AND company.removed_at IS NULL
    LEFT JOIN offers o ON o.company_id = k.company_id AND o.id = k.offer_id
    LEFT JOIN schedules s ON s.company_id = k.company_id AND s.id = k.schedule_id
    LEFT JOIN offers own ON own.company_id = k.company_id AND own.id = s.offer_id
    WHERE k.token = {token}
  `,
  { prepared: true, nullable: ['powers_of_company', 'powers_of_offer'] },
).returning<{
  company_id: string;
  country: string;
  contact_countries: string[] | null;
  contact_prefixes: string[];
  powers_of_company: LeadTokenPower[] | null;
  powers_of_offer: LeadTokenPower[] | null;
}>();
