import { sql, statement } from '../../../data/sql';

export const SET_LEAD_TOKEN_POWERS = statement(
  'offers.set_lead_token_powers',
  sql`
    UPDATE offers
    SET lead_token_powers = {powers}::text[]
    WHERE company_id = {company_id} AND id = {id}
  `,
  { prepared: false },
);
