import { sql, statement } from '../../../data/sql';

/** Held until the connection is closed. */
export const LOCK_DEMO = statement(
  'installation.lock_demo',
  sql`SELECT pg_advisory_lock({lock}::bigint)`,
  { prepared: false },
);

export const HAS_COMPANIES = statement(
  'installation.has_companies',
  sql`SELECT EXISTS (SELECT FROM companies) AS any`,
  { prepared: false },
);

export const DEMO_FLEETS = statement(
  'installation.demo_fleets',
  sql`SELECT id, user_fleet_id FROM buyer_fleets WHERE company_id = {company_id}`,
  { prepared: false },
);

export const DEMO_LIST = statement(
  'installation.demo_list',
  sql`SELECT id FROM buyer_suppressions WHERE company_id = {company_id}`,
  { prepared: false },
);

export const LAST_OFFER = statement(
  'installation.last_offer',
  sql`SELECT max(id) AS id FROM offers WHERE company_id = {company_id}`,
  { prepared: false },
);

export const LAST_SCHEDULE = statement(
  'installation.last_schedule',
  sql`SELECT max(id) AS id FROM schedules WHERE company_id = {company_id}`,
  { prepared: false },
);

export const BUSY_IDS = statement(
  'installation.busy_ids',
  sql`
    SELECT 'offer' AS kind, user_offer_id AS name, id::text
    FROM offers
    WHERE company_id = {company_id}
    UNION ALL
    SELECT 'source', user_traffic_source_id, id::text
    FROM traffic_sources
    WHERE company_id = {company_id}
    UNION ALL
    SELECT 'schedule', user_schedule_id, id::text
    FROM schedules
    WHERE company_id = {company_id}
    UNION ALL
    SELECT 'list', name, id::text
    FROM buyer_suppressions
    WHERE company_id = {company_id}
  `,
  { prepared: false, nullable: ['name'] },
);

export const LEAD_OF_NUMBER = statement(
  'installation.lead_of_number',
  sql`
    SELECT id::text
    FROM leads
    WHERE company_id = {company_id} AND caller_number = {number}::bigint AND deleted_at IS NULL
    ORDER BY id DESC
    LIMIT 1
  `,
  { prepared: false },
);
