import type { Db } from '../../data/db';
import type { Caller } from '../../api/auth/caller';
import type { Prisma } from '../../generated/prisma/client';
import { requireHolding, requireWithin, buildRights } from '../../api/auth/caller';

// Callers cannot grant more rights than they have, whether they change the permissions of a team or
// its users: a 422 problem names the rights the caller lacks. Nor can they take away rights that
// they do not have, by deleting a team or a user, or by revoking a token: that is a 403 problem.

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

async function loadTeamRights(
  db: Db,
  where: Prisma.AccessControlListWhereInput,
): Promise<(TeamRights & { id: string })[]> {
  const teams = await db.prisma.accessControlList.findMany({
    where: { ...where, deleted_at: null },
    select: { id: true, permissions: true, superuser: true },
  });
  return teams.map((team) => ({ ...team, id: String(team.id) }));
}

const loadRightsOfUser = (db: Db, userId: bigint) =>
  loadTeamRights(db, { users: { some: { user_id: userId } } });

export async function requireTeamsWithin(
  db: Db,
  caller: Caller,
  ids: readonly bigint[],
): Promise<void> {
  if (caller.superuser || ids.length === 0) return;
  requireRightsWithin(caller, await loadTeamRights(db, { id: { in: [...ids] } }));
}

export async function requireUserWithin(db: Db, caller: Caller, userId: bigint): Promise<void> {
  if (caller.superuser) return;
  requireRightsWithin(caller, await loadRightsOfUser(db, userId));
}

/** Requires that the caller has all rights of a user's token with these permissions. */
export async function requireTokenWithin(
  db: Db,
  caller: Caller,
  { email, permissions }: { email: string; permissions: string[] },
): Promise<void> {
  if (caller.superuser) return;
  const user = { email: email.toLowerCase(), deleted_at: null };
  const teams = await loadTeamRights(db, { users: { some: { user } } });
  const rights = buildRights({ kind: 'user_token', superuser: false, permissions, teams });
  requireWithin(caller, {
    superuser: rights.superuser,
    permissions: [...permissions, ...rights.permissions],
  });
}

const mergeRights = (rights: readonly TeamRights[]) => ({
  superuser: rights.some(({ superuser }) => superuser),
  permissions: [...new Set(rights.flatMap(({ permissions }) => permissions))],
});

/** Requires that the caller, who removes these teams from a user, has all their rights. */
export async function requireTeamsHeld(
  db: Db,
  caller: Caller,
  ids: readonly bigint[],
): Promise<void> {
  if (caller.superuser || ids.length === 0) return;
  requireHolding(caller, mergeRights(await loadTeamRights(db, { id: { in: [...ids] } })));
}

/** Requires that the caller, who deletes a user, has all rights of the user's teams and tokens. */
export async function requireUserHeld(db: Db, caller: Caller, userId: bigint): Promise<void> {
  if (caller.superuser) return;
  const teams = await loadRightsOfUser(db, userId);
  const tokens = await db.prisma.accessToken.findMany({
    where: { user_id: userId, deleted_at: null },
    select: { superuser: true },
  });
  const onlySuperuser = tokens.map(({ superuser }) => ({ superuser, permissions: [] }));
  requireHolding(caller, mergeRights([...teams, ...onlySuperuser]));
}

/** Requires that the caller, who revokes a token, has all rights of it. Users revoke their own. */
export async function requireTokenHeld(db: Db, caller: Caller, id: bigint): Promise<void> {
  if (caller.superuser) return;
  const { kind, superuser, permissions, user_id } = await db.prisma.accessToken.findFirstOrThrow({
    where: { id, deleted_at: null },
  });
  if (user_id !== null && caller.user_id === user_id) return;
  const teams = user_id === null ? null : await loadRightsOfUser(db, user_id);
  const rights = buildRights({ kind: kind as Caller['kind'], superuser, permissions, teams });
  requireHolding(caller, { superuser: rights.superuser, permissions: [...rights.permissions] });
}
