import { sql, statement } from '../../db/sql';

/** A row if the user's latest invitation has this number and can still be accepted. */
export const FIND_OPEN_INVITATION = statement(
  'http.find_open_invitation',
  sql`
    SELECT id
    FROM users
    WHERE company_id = {company_id} AND id = {user_id} AND invitation_number = {number}
      AND invitation_open AND deleted_at IS NULL
      AND invited_at > {now}::timestamptz - make_interval(days => {valid_days}::int)
  `,
  { prepared: true },
);
