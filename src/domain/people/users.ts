import type { Schemas } from '../../platform/contract/contract';
import { commonColumns, type Projection } from '../../data/projection/projection';
import { lockRecord } from '../../data/records';
import type { Db } from '../../data/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { requireUnchanged, loadWriteReply } from '../../api/records/record';
import { recordHandlers } from '../../api/records/record-handlers';
import { acceptInvitation } from './accept-invitation';
import { projection as accessTokens } from './access-token-columns';
import { emailAddresses } from './email-addresses';
import { deleteUser, type DeleteAgent } from './delete-user';
import { requireUserHeld, requireUserWithin } from './grantable-teams';
import { inviteUsers } from './invite-users';
import { createUser, resolveTeams, updateUser } from './save-user';
import { type SortKey } from '../../data/projection/list-statements';

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
