import { sql, statement } from '../../../data/sql';

export const NEXT_COMPANY_ID = statement(
  'installation.next_company_id',
  sql`SELECT nextval('companies_id_seq') AS id`,
  { prepared: false },
);
