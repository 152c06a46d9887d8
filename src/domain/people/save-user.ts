import type { Schemas } from '../../platform/contract/contract';
import { replaceAttached } from '../../data/attachments';
import { resolveReferences, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { changedAt, createdAt } from '../../data/timestamps';
import type { Authenticator } from '../../api/auth/authenticator';
import type { Caller } from '../../api/auth/caller';
import { requireTeamsWithin, requireUserWithin } from './grantable-teams';
import { inviteUsers, type InviteContext } from './invite-users';

interface Context extends InviteContext {
  caller: Caller;
  authenticator: Authenticator;
}

type Columns = Pick<Schemas['UserUpdate'], 'email' | 'name' | 'external_record_id'>;

const buildColumns = ({ email, name, external_record_id }: Columns) => ({
  email: email?.toLowerCase(),
  name,
  external_record_id,
});

/**
 * Returns the ids of the teams that a request names, and locks them; the user is locked after them.
 */
export const resolveTeams = async (
  db: Db,
  teamIds: Reference[] | null | undefined,
): Promise<bigint[] | undefined> =>
  teamIds === undefined
    ? undefined
    : resolveReferences(db, 'access_control_lists', teamIds ?? [], { field: 'team_ids' });

export async function createUser(
  tx: Db,
  { invite = true, team_ids, ...fields }: Schemas['UserCreate'],
  { caller, authenticator, ...context }: Context,
): Promise<bigint> {
  const { now } = context;
  const teams = await resolveTeams(tx, team_ids);
  await requireTeamsWithin(tx, caller, teams ?? []);
  const { id } = await tx.prisma.user.create({
    data: {
      ...buildColumns(fields),
      email: fields.email.toLowerCase(),
      company_id: tx.company_id,
      ...createdAt(now),
    },
    select: { id: true },
  });
  await replaceTeams(tx, id, teams);
  tx.afterCommit(() => authenticator.forgetRights());
  if (invite) await inviteUsers(tx, [id], { ...context, field: 'email' });
  return id;
}

interface UserChange {
  id: bigint;
  fields: Columns;
  /** From resolveTeams; undefined where the request leaves the teams as they are. */
  teams: bigint[] | undefined;
}

/** Changes a locked user. An open invitation is sent again where the address changes. */
export async function updateUser(
  tx: Db,
  { id, fields, teams }: UserChange,
  { caller, authenticator, ...context }: Context,
): Promise<void> {
  const { now } = context;
  await requireUserWithin(tx, caller, id);
  await requireTeamsWithin(tx, caller, teams ?? []);
  const where = { company_id_id: { company_id: tx.company_id, id } };
  const before = await tx.prisma.user.findUniqueOrThrow({
    where,
    select: { email: true, invitation_open: true },
  });
  const columns = buildColumns(fields);
  await tx.prisma.user.update({
    where,
    data: { ...columns, ...changedAt(now) },
    select: { id: true },
  });
  const isMoved = columns.email !== undefined && columns.email !== before.email;
  // The link that was mailed to the former address must not work any longer.
  if (isMoved && before.invitation_open)
    await inviteUsers(tx, [id], { ...context, field: 'email' });
  await replaceTeams(tx, id, teams);
  tx.afterCommit(() => authenticator.forgetRights());
}

async function replaceTeams(db: Db, userId: bigint, teams: bigint[] | undefined): Promise<void> {
  if (!teams) return;
  const attachedTeams = { access_control_list_id: teams };
  await replaceAttached(db, 'access_control_list_users', { user_id: userId }, attachedTeams);
}
