import { rightsOf, requireWithin, type Caller } from '../http/auth/caller';
import type { Db } from '../db/tenant';

// Nobody gives others more than they have, be it by what a team allows or by who is in it. Refuses with 422.

interface TeamRights {
  id: string;
  permissions: string[];
  superuser: boolean;
}

const TEAMS =
  'SELECT l.id::text, l.permissions, l.superuser FROM access_control_lists l WHERE l.company_id = $1 AND l.deleted_at IS NULL AND';

/** That the caller may do whatever these teams allow. */
export async function requireTeamsWithin(
  db: Db,
  caller: Caller,
  ids: readonly bigint[],
): Promise<void> {
  if (caller.superuser || ids.length === 0) return;
  const teams = await db.query<TeamRights>({
    text: `${TEAMS} l.id = ANY($2::bigint[])`,
    values: [db.company_id, ids],
  });
  requireWithin(caller, {
    superuser: teams.some(({ superuser }) => superuser),
    permissions: teams.flatMap(({ permissions }) => permissions),
  });
}

const OF_USER =
  'l.id IN (SELECT m.access_control_list_id FROM access_control_list_users m WHERE m.company_id = $1 AND m.user_id = $2)';

/** That the caller may do whatever a user's teams allow. */
export async function requireUserWithin(db: Db, caller: Caller, user_id: bigint): Promise<void> {
  if (caller.superuser) return;
  const teams = await db.query<TeamRights>({
    text: `${TEAMS} ${OF_USER}`,
    values: [db.company_id, user_id],
  });
  await requireTeamsWithin(
    db,
    caller,
    teams.map(({ id }) => BigInt(id)),
  );
}

/** That the caller may do whatever a token of a user could, which has these permissions of its own. */
export async function requireTokenWithin(
  db: Db,
  caller: Caller,
  { email, permissions }: { email: string; permissions: string[] },
): Promise<void> {
  if (caller.superuser) return;
  const text = `${TEAMS} l.id IN (SELECT m.access_control_list_id FROM access_control_list_users m JOIN users u ON u.company_id = m.company_id AND u.id = m.user_id
    WHERE m.company_id = $1 AND u.email = $2 AND u.deleted_at IS NULL)`;
  const teams = await db.query<TeamRights>({ text, values: [db.company_id, email.toLowerCase()] });
  const rights = rightsOf({ kind: 'user_token', superuser: false, permissions, teams });
  requireWithin(caller, {
    superuser: rights.superuser,
    permissions: [...permissions, ...rights.permissions],
  });
}
