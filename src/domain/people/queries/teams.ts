import { sql, statement } from '../../../data/sql';

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

export const LOCK_TEAM_OF_SOURCE = statement(
  'people.lock_team_of_source',
  sql`
    SELECT id::text
    FROM access_control_lists
    WHERE company_id = {company_id} AND generated_for_traffic_source_id = {id}
      AND deleted_at IS NULL
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
