import type { Call, Handlers } from '../../api/handlers';
import { loadWriteReply } from '../../api/records/record';
import { noun } from '../../api/records/noun';
import { replaceAttached } from '../../data/attachments';
import { moveCount } from '../../data/counts/counters';
import { lockRecord, toKey } from '../../data/records';
import type { Db } from '../../data/db';
import { deletedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import { accessToken } from './access-token';
import { takeInvitation } from './accept-invitation';
import { confirmAddress } from './confirm-addresses';
import { requireTeamsWithin, requireUserHeld, requireUserWithin } from './grantable-teams';
import { inviteUsers } from './invite-users';
import { NO_SECOND_FACTOR } from './sign-in/login';
import { issueCredentials, revokeCredentials } from './issue-credentials';

// Users, their teams, credentials and invitations. Locks are taken in this order: offer, buyer
// group, buyer, team, user, agent.

const user = noun({
  schema: 'User',
  singular: 'user',
  plural: 'users',
  search: ['email', 'name', 'external_record_id'],
  joins: { l: 'LEFT JOIN user_logins l ON l.company_id = t.company_id AND l.user_id = t.id' },
  computed: {
    has_password: '(l.password_hash IS NOT NULL)',
    has_second_factor: '(l.totp_confirmed_at IS NOT NULL)',
    last_seen_at: 'l.seen_at',
  },
  parts: {
    team_ids: {
      pairs: 'access_control_list_users',
      column: 'access_control_list_id',
      locked: 'before',
    },
  },
});

export const users = (deps: Deps, deleteAgent: DeleteAgent) => {
  const { clock, queue, config, pepper, authenticator, mailer } = deps;
  const handlers = user.handlers(deps, {
    reads: ['email', 'invitation_open'],
    unsaved: {},

    columns: async ({ tx, id, fields: { email }, parts, caller }) => {
      if (id !== undefined) await requireUserWithin(tx, caller, id);
      await requireTeamsWithin(tx, caller, parts.get('team_ids') ?? []);
      return email === undefined ? {} : { email: email.toLowerCase() };
    },

    save: async ({ tx, id, fields, row, before, now }) => {
      const { invite = true, reset_second_factor } = fields;
      tx.afterCommit(authenticator.forgetRights);
      if (reset_second_factor)
        await tx.prisma.userLogin.updateMany({ where: { user_id: id }, data: NO_SECOND_FACTOR });
      // The link that was mailed to the former address must not work any longer.
      const isMoved = row.email !== undefined && row.email !== before?.email;
      if (before ? isMoved && before.invitation_open : invite)
        await inviteUsers(tx, [id], { queue, config, now, field: 'email' });
    },

    deletion: {
      remove: async ({ tx, id, now, caller }) => {
        await requireUserHeld(tx, caller, id);
        await deleteUser(tx, id, { now, deleteAgent });
        tx.afterCommit(authenticator.forgetRights);
      },
    },
  });
  const { change } = user.writer({ clock });
  return {
    ...emailAddresses(deps),
    ...handlers,

    inviteUser: (call: Call<'inviteUser'>) =>
      change(
        { ...call, query: {}, if_match: undefined },
        {
          status: 202,
          work: async ({ tx, id, now }) => {
            await requireUserWithin(tx, call.caller, id);
            await inviteUsers(tx, [id], { queue, config, field: 'email', now });
          },
        },
      ),

    acceptInvitation: async ({ body, db, invitation }) => {
      const now = clock();
      const { id, token } = await db.transaction(async (tx) => {
        const email = await takeInvitation(tx, invitation!, { now, mailer });
        const name = body?.name ?? 'Invitation';
        const rights = { permissions: [], superuser: false };
        return issueCredentials(
          tx,
          { name, kind: 'user_token', ...rights, user_email: email },
          { pepper, now },
        );
      });
      return loadWriteReply({ db, now, projection: accessToken.projection }, id, {
        status: 201,
        extra: { token },
      });
    },
  } satisfies Partial<Handlers>;
};

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
  await tx.prisma.userLogin.deleteMany({ where: { user_id: id } });
  await tx.prisma.user.update({
    where: toKey(tx, id),
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
