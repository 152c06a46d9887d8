import { sql, statement } from '../../../data/sql';

export const NEXT_COMPANY_ID = statement(
  'installation.next_company_id',
  sql`SELECT nextval('companies_id_seq') AS id`,
  { prepared: false },
);

export const DELETE_COMPANY = statement(
  'installation.delete_company',
  sql`SELECT delete_company({company_id})::text AS deleted`,
  { prepared: false },
);
