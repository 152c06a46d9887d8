import { sql, statement } from '../../db/sql';

export const FIND_TOKEN_RIGHTS = statement(
  'people.find_token_rights',
  sql`
    SELECT kind, superuser, permissions, user_id::text
    FROM access_tokens
    WHERE company_id = {company_id} AND id = {id} AND deleted_at IS NULL
  `,
  { prepared: false },
).returning<{ kind: 'key_pair' | 'user_token'; permissions: string[] }>();

export const FIND_TOKEN_RIGHTS_OF_USER = statement(
  'people.find_token_rights_of_user',
  sql`
    SELECT superuser
    FROM access_tokens
    WHERE company_id = {company_id} AND user_id = {user_id} AND deleted_at IS NULL
  `,
  { prepared: false },
);

/** The teams that are granted a buyer group. */
export const FIND_TEAMS_OF_GROUP = statement(
  'people.find_teams_of_group',
  sql`
    SELECT access_control_list_id::text AS id
    FROM access_control_list_buyer_groups
    WHERE company_id = {company_id} AND buyer_group_id = {buyer_group_id}
  `,
  { prepared: false },
);
