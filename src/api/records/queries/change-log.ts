import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';

export const INSERT_CHANGE = statement(
  'http.insert_change',
  sql`
    WITH logged AS (
      INSERT INTO change_logs (
        company_id, uuid, created_at, record_type, record_id, action, operation, changes,
        changes_shown, user_id, user_email, access_token_id, credentials, request_id,
        client_request_id, ip
      )
      VALUES (
        {company_id}, {uuid}, {created_at}, {record_type}, {record_id}, {action}, {operation},
        {changes}, {changes_shown}::json, {user_id}, {user_email}, {access_token_id},
        {credentials}, {request_id}, {client_request_id}, {ip}
      )
      RETURNING company_id
    )
    ${countRows('change_logs', 'logged')}
  `,
  { prepared: true },
);
