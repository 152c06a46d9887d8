import { sql, statement } from '../../../data/sql';

export const NUMBERS_OF_COMPANIES = statement(
  'numbers.of_companies',
  sql`
    SELECT company_id, id, phone_number AS number, offer_id, last_assigned_at
    FROM numbers
    WHERE company_id = ANY({company_ids}::bigint[]) AND deleted_at IS NULL
    ORDER BY numbers.id
  `,
  { prepared: true },
);

export const CALLED_NUMBER = statement(
  'numbers.called_number',
  sql`
    SELECT id AS number_id,
      CASE WHEN forward_type = 'offer_id' THEN offer_id END AS offer_id,
      CASE WHEN forward_type = 'buyer_id' THEN buyer_id END AS buyer_id,
      traffic_source_id
    FROM numbers
    WHERE company_id = {company_id} AND phone_number = {phone_number}::bigint
      AND deleted_at IS NULL
  `,
  { prepared: true, nullable: ['offer_id', 'buyer_id'] },
);
