import type { Schemas } from '../../platform/contract/contract';
import { commonColumns, type Projection } from '../../data/projection/projection';
import { lockRecord } from '../../data/records';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { requireUnchanged, loadWriteReply } from '../../api/records/record';
import { recordHandlers } from '../../api/records/record-handlers';
import { projection as accessTokens } from './access-token-columns';
import { requireUserHeld, requireUserWithin } from './grantable-teams';
import { inviteUsers } from './invite-users';
import { createUser, resolveTeams, updateUser } from './save-user';
import type { SortKey } from '../../data/projection/list-statements';
import { HttpProblem } from '../../platform/errors';
import type { Invitation } from '../../api/auth/scheme';
import { issueCredentials, type IssuedCredentials, revokeCredentials } from './issue-credentials';
import { replaceAttached } from '../../data/attachments';
import { moveCount } from '../../data/counts/counters';
import { deletedAt } from '../../data/timestamps';
import { confirmAddress, confirmInvitedAddress } from './confirm-addresses';

// Users, their teams, credentials and invitations. Locks are taken in this order: offer, buyer
// group, buyer, team, user, agent.

export const projection = {
  schema: 'User',
  singular: 'user',
  plural: 'users',
  fulltext: `lower(coalesce(t.email, '') || E'\\n' || coalesce(t.name, '')
    || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('users'),
    type: `'User'`,
    email: true,
    name: true,
    team_ids: `ARRAY(
      SELECT m.access_control_list_id
      FROM access_control_list_users m
      WHERE m.company_id = t.company_id AND m.user_id = t.id
      ORDER BY 1
    )`,
    invited_at: true,
    joined_at: true,
  },
} as const satisfies Projection<'User', 'user', 'users'>;

const orders: Record<string, SortKey> = {
  email: { sql: 't.email', type: 'text' },
  name: { sql: 't.name', type: 'text', nullable: true },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
};

export const users = (deps: Deps, deleteAgent: DeleteAgent) => {
  const { clock, queue, config, pepper, authenticator } = deps;
  const records = recordHandlers(projection, clock);
  const inviting = { queue, config, authenticator };
  return {
    ...emailAddresses(deps),
    listUsers: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),
    newUser: (call) => records.showUnsaved({ ...call, query: {} }, {}),
    showUser: records.show,
    createUser: (call) =>
      records.create({ ...call, query: {} }, (tx, fields, now) =>
        createUser(tx, fields, { ...inviting, caller: call.caller, now }),
      ),

    updateUser: (call) =>
      records.updateLockingFirst(
        { ...call, query: {} },
        (tx: Db, { team_ids }: Schemas['UserUpdate']) => resolveTeams(tx, team_ids),
        (tx, id, { fields, now, ahead: teams }) =>
          updateUser(tx, { id, fields, teams }, { ...inviting, caller: call.caller, now }),
      ),

    deleteUser: (call) =>
      records.delete({ ...call, query: {} }, async (tx, id, now) => {
        await requireUserHeld(tx, call.caller, id);
        await deleteUser(tx, id, { now, deleteAgent });
        tx.afterCommit(() => authenticator.forgetRights());
      }),

    inviteUser: async ({ params, db, caller }) => {
      const now = clock();
      const id = await db.transaction(async (tx) => {
        const user = await lockRecord(tx, 'users', params.id);
        await requireUnchanged({ db: tx, now, projection, if_match: undefined }, params.id);
        await requireUserWithin(tx, caller, user.id);
        await inviteUsers(tx, [user.id], { queue, config, field: 'email', now });
        return user.id;
      });
      return loadWriteReply({ db, now, projection }, id, { status: 202 });
    },

    acceptInvitation: async ({ body, db, invitation }) => {
      const now = clock();
      const { id, token } = await db.transaction((tx) =>
        acceptInvitation(tx, invitation!, { name: body?.name ?? 'Invitation', pepper, now }),
      );
      return loadWriteReply({ db, now, projection: accessTokens }, id, {
        status: 201,
        extra: { token },
      });
    },
  } satisfies Partial<Handlers>;
};

/**
 * Issues the access token of an invitation, which can be accepted once. Throws a 401 problem when
 * the invitation has been accepted or replaced in the meantime.
 */
async function acceptInvitation(
  db: Db,
  { user_id, number }: Invitation,
  { name, pepper, now }: { name: string; pepper: string; now: Date },
): Promise<IssuedCredentials> {
  const open = { invitation_number: number, invitation_open: true, deleted_at: null };
  const [user] = await db.prisma.user.updateManyAndReturn({
    where: { id: user_id, ...open },
    data: { invitation_open: false, updated_at: now },
    select: { email: true },
  });
  if (!user)
    throw new HttpProblem(
      'invitation_used',
      'This invitation has been accepted or replaced by a newer one.',
    );
  await db.prisma.user.updateMany({
    where: { id: user_id, joined_at: null },
    data: { joined_at: now, updated_at: now },
  });
  await confirmInvitedAddress(db, user.email, now);
  return issueCredentials(
    db,
    { name, kind: 'user_token', permissions: [], superuser: false, user_email: user.email },
    { pepper, now },
  );
}

/**
 * Deletes an agent whose row is locked. Passed in, since src/domain/agents/ is a layer above
 * src/domain/people/.
 */
type DeleteAgent = (db: Db, agentId: bigint, now: Date) => Promise<void>;

/**
 * Deletes a locked user: removes them from their teams, revokes their tokens, and deletes their
 * agent.
 */
async function deleteUser(
  tx: Db,
  id: bigint,
  { now, deleteAgent }: { now: Date; deleteAgent: DeleteAgent },
): Promise<void> {
  await replaceAttached(
    tx,
    'access_control_list_users',
    { user_id: id },
    { access_control_list_id: [] },
  );
  const isTheirs = { where: { user_id: id, deleted_at: null }, select: { id: true } };
  for (const token of await tx.prisma.accessToken.findMany(isTheirs))
    await revokeCredentials(tx, token.id, now);
  const agent = await tx.prisma.agent.findFirst(isTheirs);
  if (agent) {
    const locked = await lockRecord(tx, 'agents', agent.id.toString());
    await deleteAgent(tx, locked.id, now);
    await moveCount(tx, 'agents', -1);
  }
  await tx.prisma.user.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: { ...deletedAt(now), invitation_open: false },
    select: { id: true },
  });
}

/** Confirmation of addresses for the mails of a company; mounted with users. */
const emailAddresses = ({ clock }: Deps) =>
  ({
    confirmEmailAddress: async ({ db, confirmation }) => {
      const { email, company, confirmed_at } = await confirmAddress(db, confirmation!, clock());
      return {
        status: 200,
        success: true as const,
        errors: {},
        email_address: { email, company, confirmed_at: confirmed_at.toISOString() },
        metadata: { root: 'email_address' },
      };
    },
  }) satisfies Partial<Handlers>;
