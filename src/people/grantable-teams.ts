import type { Db } from '../db/tenant';
import type { Caller } from '../http/auth/caller';
import {
  FIND_TEAM_RIGHTS,
  FIND_TEAM_RIGHTS_BY_EMAIL,
  FIND_TEAM_RIGHTS_OF_USER,
} from './queries/teams';
import { requireWithin, rightsOf } from '../http/auth/caller';

// Callers cannot grant more rights than they have, whether they change the permissions of a team or
// its users. Each function throws a 422 problem that names the rights the caller lacks.

interface TeamRights {
  permissions: string[];
  superuser: boolean;
}

function requireRightsWithin(caller: Caller, teams: readonly TeamRights[]): void {
  requireWithin(caller, {
    superuser: teams.some(({ superuser }) => superuser),
    permissions: teams.flatMap(({ permissions }) => permissions),
  });
}

/** Requires that the caller has all rights of these teams. */
export async function requireTeamsWithin(
  db: Db,
  caller: Caller,
  ids: readonly bigint[],
): Promise<void> {
  if (caller.superuser || ids.length === 0) return;
  requireRightsWithin(caller, await db.sql(FIND_TEAM_RIGHTS, { ids }));
}

/** Requires that the caller has all rights of a user's teams. */
export async function requireUserWithin(db: Db, caller: Caller, user_id: bigint): Promise<void> {
  if (caller.superuser) return;
  requireRightsWithin(caller, await db.sql(FIND_TEAM_RIGHTS_OF_USER, { user_id }));
}

/** Requires that the caller has all rights of a user's token that has these permissions. */
export async function requireTokenWithin(
  db: Db,
  caller: Caller,
  { email, permissions }: { email: string; permissions: string[] },
): Promise<void> {
  if (caller.superuser) return;
  const teams = await db.sql(FIND_TEAM_RIGHTS_BY_EMAIL, { email: email.toLowerCase() });
  const rights = rightsOf({ kind: 'user_token', superuser: false, permissions, teams });
  requireWithin(caller, {
    superuser: rights.superuser,
    permissions: [...permissions, ...rights.permissions],
  });
}
