import { sql, statement } from '../../../data/sql';

// Records that have ids of the other service.

export const FIND_CONTACTS_HERE = statement(
  'migration.find_contacts_here',
  sql`SELECT id, uuid FROM contacts WHERE company_id = {company_id} AND id = ANY ({ids}::bigint[])`,
  { prepared: false },
);

export const FIND_LEADS_HERE = statement(
  'migration.find_leads_here',
  sql`SELECT id, uuid FROM leads WHERE company_id = {company_id} AND id = ANY ({ids}::bigint[])`,
  { prepared: false },
);

export const FIND_CALLS_HERE = statement(
  'migration.find_calls_here',
  sql`SELECT id, uuid FROM calls WHERE company_id = {company_id} AND id = ANY ({ids}::bigint[])`,
  { prepared: false },
);
