import { sql, statement } from '../../../data/sql';

export const FIND_NUMBER_OWNER = statement(
  'http.find_number_owner',
  sql`
    SELECT lookup.company_id, company.name AS company_name
    FROM number_lookups lookup
    JOIN companies company ON company.id = lookup.company_id AND company.removed_at IS NULL
    WHERE lookup.phone_number = {phone_number}::bigint AND lookup.number_id IS NOT NULL
  `,
  { prepared: true },
);
