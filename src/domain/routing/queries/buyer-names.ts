import { sql, statement } from '../../../data/sql';

export const READ_BUYER_NAMES = statement(
  'routing.read_buyer_names',
  sql`
    SELECT b.id::float8 AS id, b.name
    FROM buyers b
    WHERE b.company_id = {company_id} AND b.id = ANY({ids}::bigint[])`,
  { prepared: true },
);
