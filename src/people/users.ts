import type { Schemas } from '../contract';
import { replaceAttached } from '../db/attachments';
import { commonColumns, type Projection, type SortKey } from '../db/projection';
import { lockRecord, resolveReferences, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import { inviteUsers } from './invite-users';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { page } from '../http/list';
import { requireUnchanged, written } from '../http/record';
import { recordHandlers } from '../http/record-handlers';
import { acceptInvitation } from './accept-invitation';
import { requireTeamsWithin, requireUserWithin } from './grantable-teams';
import { revokeCredentials } from './issue-credentials';
import { projection as accessTokens } from './access-tokens';
import { moveCount } from '../db/counters';

export const projection = {
  schema: 'User',
  singular: 'user',
  plural: 'users',
  fulltext: `lower(coalesce(t.email, '') || E'\\n' || coalesce(t.name, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('users'),
    type: `'User'`,
    email: true,
    name: true,
    team_ids: `ARRAY(SELECT m.access_control_list_id FROM access_control_list_users m WHERE m.company_id = t.company_id AND m.user_id = t.id ORDER BY 1)`,
    invited_at: true,
    joined_at: true,
  },
} as const satisfies Projection<'User', 'user', 'users'>;

const orders: Record<string, SortKey> = {
  email: { sql: 't.email', type: 'text' },
  name: { sql: 't.name', type: 'text', nullable: true },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
};

interface Fields {
  email?: string;
  name?: string | null;
  external_record_id?: string | null;
}

const columnsOf = ({ email, name, external_record_id }: Fields) => ({
  email: email?.toLowerCase(),
  name,
  external_record_id,
});

/** The teams that a request names, locked before their user is. */
const teamsOf = async (db: Db, team_ids: Reference[] | null | undefined) =>
  team_ids === undefined
    ? undefined
    : resolveReferences(db, 'access_control_lists', team_ids ?? [], { field: 'team_ids' });

/** People with tokens, or invitations to one. */
/** Deletes an agent whose row is locked. Agents are a room above this one, which is why it is a parameter. */
type DeleteAgent = (db: Db, agent_id: bigint, now: Date) => Promise<void>;

export const users = ({ clock, queue, pepper, authenticator }: Deps, deleteAgent: DeleteAgent) => {
  const records = recordHandlers(projection, clock);
  const where = (db: Db, id: bigint) => ({ company_id_id: { company_id: db.company_id, id } });
  const join = async (db: Db, user_id: bigint, teams: bigint[] | undefined) => {
    if (teams)
      await replaceAttached(
        db,
        'access_control_list_users',
        { user_id },
        { access_control_list_id: teams },
      );
    db.afterCommit(() => authenticator.forgetRights());
  };
  return {
    listUsers: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),
    newUser: (call) => records.unsaved({ ...call, query: {} }, {}),
    showUser: (call) => records.show({ ...call, query: {} }),

    createUser: (call) => {
      return records.create(
        { ...call, query: {} },
        async (tx, { invite = true, team_ids, ...fields }, now) => {
          const teams = await teamsOf(tx, team_ids);
          await requireTeamsWithin(tx, call.caller, teams ?? []);
          const data = {
            ...columnsOf(fields),
            email: fields.email!.toLowerCase(),
            company_id: tx.company_id,
          };
          const { id } = await tx.prisma.user.create({
            data: { ...data, user_updated_at: now, created_at: now, updated_at: now },
            select: { id: true },
          });
          await join(tx, id, teams);
          if (invite) await inviteUsers(tx, [id], { queue, now });
          return id;
        },
      );
    },

    updateUser: async (call) => {
      const ahead = (tx: Db, { team_ids }: Schemas['UserUpdate']) => teamsOf(tx, team_ids);
      return records.updateAfter(
        { ...call, query: {} },
        ahead,
        async (tx, id, { fields: { team_ids, ...fields }, now, ahead: teams }) => {
          void team_ids;
          await requireUserWithin(tx, call.caller, id);
          await requireTeamsWithin(tx, call.caller, teams ?? []);
          const before = await tx.prisma.user.findUniqueOrThrow({
            where: where(tx, id),
            select: { email: true, invitation_open: true },
          });
          await tx.prisma.user.update({
            where: where(tx, id),
            data: { ...columnsOf(fields), user_updated_at: now, updated_at: now },
            select: { id: true },
          });
          // A link that was mailed to another address is void.
          if (
            fields.email !== undefined &&
            fields.email.toLowerCase() !== before.email &&
            before.invitation_open
          )
            await inviteUsers(tx, [id], { queue, now });
          await join(tx, id, teams);
        },
      );
    },

    deleteUser: async (call) => {
      return records.delete({ ...call, query: {} }, async (tx, id, now) => {
        await join(tx, id, []);
        const tokens = await tx.prisma.accessToken.findMany({
          where: { user_id: id, deleted_at: null },
          select: { id: true },
        });
        for (const token of tokens) await revokeCredentials(tx, token.id, now);
        const agent = await tx.prisma.agent.findFirst({
          where: { user_id: id, deleted_at: null },
          select: { id: true },
        });
        if (agent) {
          await deleteAgent(tx, (await lockRecord(tx, 'agents', agent.id.toString())).id, now);
          await moveCount(tx, 'agents', -1);
        }
        const data = {
          deleted_at: now,
          updated_at: now,
          user_updated_at: now,
          invitation_open: false,
        };
        await tx.prisma.user.update({ where: where(tx, id), data, select: { id: true } });
      });
    },

    inviteUser: async ({ params, db, caller }) => {
      const now = clock();
      const id = await db.transaction(async (tx) => {
        const user = await lockRecord(tx, 'users', params.id);
        await requireUnchanged({ db: tx, now, projection, if_match: undefined }, params.id);
        await requireUserWithin(tx, caller, user.id);
        await inviteUsers(tx, [user.id], { queue, now });
        return user.id;
      });
      return written({ db, now, projection }, id, { status: 202 });
    },

    acceptInvitation: async ({ body, db, invitation }) => {
      const now = clock();
      const { id, token } = await db.transaction((tx) =>
        acceptInvitation(tx, invitation!, { name: body?.name ?? 'Invitation', pepper, now }),
      );
      return written({ db, now, projection: accessTokens }, id, { status: 201, extra: { token } });
    },
  } satisfies Partial<Handlers>;
};
