import { sql, statement } from '../sql';

export const LOCK_BUYERS_BY_USER_ID = statement(
  'db.lock_buyers_by_user_id',
  sql`
    SELECT id, user_buyer_id FROM buyers
    WHERE company_id = {company_id} AND user_buyer_id = ANY({user_buyer_ids}::text[])
      AND deleted_at IS NULL
    ORDER BY id
    FOR SHARE
  `,
  { prepared: false },
);
