import { sql, statement } from '../../../data/sql';

/** A row if the user's latest invitation has this number and can still be accepted. */
export const FIND_OPEN_INVITATION = statement(
  'http.find_open_invitation',
  sql`
    SELECT u.id
    FROM users u
    JOIN companies company ON company.id = u.company_id AND company.removed_at IS NULL
    WHERE u.company_id = {company_id} AND u.id = {user_id} AND u.invitation_number = {number}
      AND u.invitation_open AND u.deleted_at IS NULL
      AND u.invited_at > {now}::timestamptz - make_interval(days => {valid_days}::int)
  `,
  { prepared: true },
);
