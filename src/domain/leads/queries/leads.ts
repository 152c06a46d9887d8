import { sql, statement } from '../../../data/sql';

export const LOAD_OWNER = statement(
  'leads.load_owner',
  sql`
    SELECT c.country, c.contact_countries, coalesce(c.contact_prefixes, '{}') AS contact_prefixes,
      coalesce(s.time_zone, o.time_zone) AS zone
    FROM companies c
    LEFT JOIN schedules s ON s.company_id = c.id AND s.id = {schedule_id}::bigint
    LEFT JOIN offers o ON o.company_id = c.id AND o.id = {offer_id}::bigint
    WHERE c.id = {company_id}
  `,
  { prepared: false, nullable: ['zone'] },
).returning<{ country: string; contact_prefixes: string[] }>();

export const LOAD_LEAD_ZONE = statement(
  'leads.load_lead_zone',
  sql`
    SELECT coalesce(s.time_zone, o.time_zone) AS zone
    FROM leads l
    LEFT JOIN schedules s ON s.company_id = l.company_id AND s.id = l.schedule_id
    LEFT JOIN offers o ON o.company_id = l.company_id AND o.id = l.offer_id
    WHERE l.company_id = {company_id} AND l.id = {id}
  `,
  { prepared: false },
);

export const FIND_CALLER_NUMBER = statement(
  'leads.find_caller_number',
  sql`
    SELECT caller_number
    FROM leads
    WHERE company_id = {company_id}
      AND (id = {id}::bigint OR uuid = {uuid}::uuid)
      AND deleted_at IS NULL
  `,
  { prepared: false },
);

export const LOCK_LEAD = statement(
  'leads.lock_lead',
  sql`
    SELECT schedule_id, is_live, due_at
    FROM leads
    WHERE company_id = {company_id} AND id = {id}
    FOR UPDATE
  `,
  { prepared: false },
);
