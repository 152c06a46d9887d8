import { sql, statement } from '../../sql';

export const READ_COUNTRY = statement(
  'phone.read_country',
  sql`SELECT country FROM companies WHERE id = {company_id}`,
  { prepared: false },
);
