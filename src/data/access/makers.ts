import type { Viewer } from './scope';
import { FIND_MAKER_TEAMS } from './queries/makers';
import type { Db, Statements, AccessScope } from '../db';

// Records that act later, such as webhooks, may do no more than their maker may do at that time.
// The record of a limited user keeps the user and the user's teams; it may do what those teams
// allow that the user is still in. Records of superusers and key pairs act for the company.

/** The maker of a record that acts later; null and no teams for the company itself. */
export interface Maker {
  maker_user_id: bigint | string | number | null;
  maker_team_ids: readonly (bigint | string | number)[];
}

/** Permissions of which the maker needs one, so that a record of the resource still acts. */
export const listMakerPermissions = (
  resource: 'outgoing_webhooks' | 'inbound_webhooks' | 'schedule_actions',
): string[] => [`${resource}:create`, `${resource}:update`];

/**
 * The columns with the maker of a record. Undefined for callers who are not limited: they do not
 * change the maker.
 */
export function toMakerColumns({
  accessScope,
}: Pick<Db, 'accessScope'>): { maker_user_id: bigint; maker_team_ids: bigint[] } | undefined {
  return (
    accessScope && {
      maker_user_id: BigInt(accessScope.scope_user),
      maker_team_ids: accessScope.all_teams.map(BigInt),
    }
  );
}

/**
 * The scope in which a record of a limited user acts: the teams that give one of the permissions.
 * No team is left once the maker has left all of them or was deleted.
 */
export async function loadMakerScope(
  db: Pick<Statements, 'sql'>,
  { maker_user_id, maker_team_ids }: Maker,
  permissions: readonly string[],
): Promise<AccessScope> {
  const [teams] = await db.sql(FIND_MAKER_TEAMS, {
    maker_user_id: String(maker_user_id),
    maker_team_ids: maker_team_ids.map(String),
    permissions,
  });
  return {
    scope_user: String(maker_user_id),
    scope_teams: teams!.scope_teams,
    all_teams: maker_team_ids.map(String),
  };
}

export const loadMakerViewer = async (
  { company_id, query, sql }: Pick<Statements, 'company_id' | 'query' | 'sql'>,
  maker: Maker,
  permissions: readonly string[],
): Promise<Viewer> => ({
  company_id,
  query,
  accessScope: await loadMakerScope({ sql }, maker, permissions),
});
