import { sql, statement } from '../../db/sql';

export const NEXT_COMPANY_ID = statement(
  'installation.next_company_id',
  sql`SELECT nextval('companies_id_seq') AS id`,
  { prepared: false },
);

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
