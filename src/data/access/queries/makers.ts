import { sql, statement } from '../../sql';

export const FIND_MAKER_TEAMS = statement(
  'db.find_maker_teams',
  sql`
    SELECT maker_teams(
        {company_id}, {maker_user_id}::bigint, {maker_team_ids}::bigint[], {permissions}::text[]
      )::text AS scope_teams
  `,
  { prepared: true },
);
