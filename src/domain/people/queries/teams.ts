import { sql, statement } from '../../../data/sql';

/**
 * Users without access token who are not in the team, except those invited within `again_minutes`.
 */
export const FIND_USERS_TO_INVITE = statement(
  'people.find_users_to_invite',
  sql`
    SELECT u.id::text
    FROM users u
    WHERE u.company_id = {company_id} AND u.id = ANY({user_ids}::bigint[])
      AND NOT (
        u.invitation_open
        AND u.invited_at > {now}::timestamptz - make_interval(mins => {again_minutes}::int)
      )
      AND NOT EXISTS (
        SELECT FROM access_tokens a
        WHERE a.company_id = {company_id} AND a.user_id = u.id AND a.deleted_at IS NULL
      )
      AND NOT EXISTS (
        SELECT FROM access_control_list_users m
        WHERE m.company_id = {company_id} AND m.access_control_list_id = {team_id}
          AND m.user_id = u.id
      )
  `,
  { prepared: false },
);

export const LOCK_TEAMS_OF_GROUP = statement(
  'people.lock_teams_of_group',
  sql`
    SELECT id::text
    FROM access_control_lists
    WHERE company_id = {company_id}
      AND id IN (
        SELECT g.access_control_list_id
        FROM access_control_list_buyer_groups g
        WHERE g.company_id = {company_id} AND g.buyer_group_id = {buyer_group_id}
      )
    ORDER BY id
    FOR UPDATE
  `,
  { prepared: false },
);

export const SET_ALL_OFFERS = statement(
  'people.set_all_offers',
  sql`
    UPDATE access_control_lists
    SET all_offers = {all_offers}
    WHERE company_id = {company_id} AND id = ANY({team_ids}::bigint[])
  `,
  { prepared: false },
);

export const LOCK_TEAM_OF_BUYER = statement(
  'people.lock_team_of_buyer',
  sql`
    SELECT id::text
    FROM access_control_lists
    WHERE company_id = {company_id} AND generated_for_buyer_id = {id} AND deleted_at IS NULL
    FOR UPDATE
  `,
  { prepared: false },
);

export const LOCK_GENERATED_TEAM_OF_GROUP = statement(
  'people.lock_generated_team_of_group',
  sql`
    SELECT id::text
    FROM access_control_lists
    WHERE company_id = {company_id} AND generated_for_buyer_group_id = {id} AND deleted_at IS NULL
    FOR UPDATE
  `,
  { prepared: false },
);

export const FIND_TEAM_RIGHTS_BY_EMAIL = statement(
  'people.find_team_rights_by_email',
  sql`
    SELECT t.id::text, t.permissions, t.superuser
    FROM access_control_lists t
    WHERE t.company_id = {company_id} AND t.deleted_at IS NULL
      AND t.id IN (
        SELECT m.access_control_list_id
        FROM access_control_list_users m
        JOIN users u ON u.company_id = m.company_id AND u.id = m.user_id
        WHERE m.company_id = {company_id} AND u.email = {email} AND u.deleted_at IS NULL
      )
  `,
  { prepared: false },
).returning<{ permissions: string[] }>();

export const FIND_TEAM_RIGHTS_OF_USER = statement(
  'people.find_team_rights_of_user',
  sql`
    SELECT t.id::text, t.permissions, t.superuser
    FROM access_control_lists t
    WHERE t.company_id = {company_id} AND t.deleted_at IS NULL
      AND t.id IN (
        SELECT m.access_control_list_id
        FROM access_control_list_users m
        WHERE m.company_id = {company_id} AND m.user_id = {user_id}
      )
  `,
  { prepared: false },
).returning<{ permissions: string[] }>();
