import type { Schemas } from '../contract';
import { replaceAttached } from '../db/attachments';
import { ownAgent } from './events';
import { commonColumns, type Projection, type SortKey } from '../db/projection';
import { byReference, resolveReferences } from '../db/records';
import type { Db } from '../db/tenant';
import { findOrCreateUsers } from '../people/find-or-create-users';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { page } from '../http/list';
import { recordHandlers } from '../http/record-handlers';
import { HttpProblem } from '../errors';
import { changeStatus, namedStatus, offlineStatus, startStatus } from './set-status';
import { deleteAgent } from './delete-agent';

type Fields = Schemas['AgentFields'];

const attached = (table: string, column: string) =>
  `ARRAY(SELECT m.${column} FROM ${table} m WHERE m.company_id = t.company_id AND m.agent_id = t.id ORDER BY m.${column})`;

export const projection = {
  schema: 'Agent',
  singular: 'agent',
  plural: 'agents',
  joins: {
    u: 'LEFT JOIN users u ON u.company_id = t.company_id AND u.id = t.user_id',
    s: 'LEFT JOIN agent_statuses s ON s.company_id = t.company_id AND s.id = t.agent_status_id',
  },
  // Without an index: a company has as many agents as seats.
  fulltext: `lower(coalesce(t.name, u.name, '') || E'\\n' || coalesce(u.email, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('agents'),
    type: `'Agent'`,
    name: 'coalesce(t.name, u.name)',
    user_id: true,
    user_email: 'u.email',
    agent_status_id: true,
    status_key: 's.key',
    status_changed_at: true,
    online: 'coalesce(s.is_online, false)',
    call_center_ids: attached('agent_call_centers', 'call_center_id'),
    buyer_ids: attached('agent_buyers', 'buyer_id'),
  },
} as const satisfies Projection<'Agent', 'agent', 'agents'>;

const orders: Record<string, SortKey> = {
  status_changed_at: { sql: 't.status_changed_at', type: 'timestamptz' },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
  updated_at: { sql: 't.updated_at', type: 'timestamptz' },
};

const OF_CALL_CENTER = `EXISTS (SELECT FROM agent_call_centers m JOIN call_centers c ON c.company_id = m.company_id AND c.id = m.call_center_id
  WHERE m.company_id = t.company_id AND m.agent_id = t.id AND lower({call_center_id}::text) IN (c.id::text, c.uuid::text))`;

/** Users who take calls. */
export const agents = ({ clock }: Deps) => {
  const records = recordHandlers(projection, clock);
  const key = (company_id: bigint, id: bigint) => ({ company_id_id: { company_id, id } });
  return {
    listAgents: async ({ query: { mine, ...query }, db, caller }) => {
      const own = mine
        ? await ownAgent(db, caller, {
            field: 'mine',
            message: 'must be left out: these credentials belong to no agent',
          })
        : undefined;
      const filters = {
        ...byReference(query, { agent_status_id: 'agent_statuses', user_id: 'users' }),
        call_center_id: OF_CALL_CENTER,
        own: 't.id = {own}::bigint',
      };
      return page(
        { ...query, ...(own && { own: own.id }) },
        { db, now: clock(), projection, orders, filters },
      );
    },
    newAgent: async (call) =>
      records.unsaved(call, { agent_status_id: Number(await offlineStatus(call.db)) }),
    showAgent: records.show,

    createAgent: (call) =>
      records.create(call, async (tx, { user_id: named, user_email, ...sent }, now) => {
        const user_id = await userOf(tx, { user_id: named, user_email }, now);
        const agent_status_id =
          sent.agent_status_id === undefined
            ? await offlineStatus(tx)
            : await namedStatus(tx, sent);
        const teams = await teamsOf(tx, sent);
        const times = {
          status_changed_at: now,
          created_at: now,
          updated_at: now,
          user_updated_at: now,
        };
        const data = {
          ...columnsOf(sent),
          user_id,
          agent_status_id,
          ...times,
          company_id: tx.company_id,
        };
        const { id } = await tx.prisma.agent.create({ data, select: { id: true } });
        await startStatus(tx, id, now);
        await writeTeams(tx, id, teams);
        return id;
      }),

    updateAgent: (call) =>
      records.updateAfter(
        call,
        // Statuses, call centers and buyers before the agent: whoever deletes one of those locks in this order too.
        async (tx, fields: Fields) => ({
          agent_status_id:
            fields.agent_status_id === undefined ? undefined : await namedStatus(tx, fields),
          ...(await teamsOf(tx, fields)),
        }),
        async (tx, id, { fields, now, ahead: { agent_status_id, ...teams } }) => {
          await tx.prisma.agent.update({
            where: key(tx.company_id, id),
            data: { ...columnsOf(fields), user_updated_at: now, updated_at: now },
          });
          if (agent_status_id !== undefined) await changeStatus(tx, id, { agent_status_id, now });
          await writeTeams(tx, id, teams);
        },
      ),

    updateAgentStatus: (call) =>
      records.updateAfter(
        call,
        (tx, fields: Schemas['AgentStatusChange']) => namedStatus(tx, fields),
        (tx, id, { now, ahead: agent_status_id }) => changeStatus(tx, id, { agent_status_id, now }),
      ),

    deleteAgent: (call) => records.delete(call, deleteAgent),
  } satisfies Partial<Handlers>;
};

async function userOf(
  db: Db,
  { user_id, user_email }: Pick<Schemas['AgentCreate'], 'user_id' | 'user_email'>,
  now: Date,
): Promise<bigint> {
  if (user_id !== undefined && user_email !== undefined)
    throw HttpProblem.field('user_email', 'must be left out where user_id is given');
  if (user_id !== undefined)
    return (await resolveReferences(db, 'users', [user_id], { field: 'user_id' }))[0]!;
  if (user_email === undefined)
    throw HttpProblem.field('user_id', 'must be given, or user_email in its place');
  if (db.accessScope)
    throw HttpProblem.field(
      'user_email',
      'is for superusers and key pairs of the company: give user_id, of a user of your teams',
    );
  return (await findOrCreateUsers(db, [user_email], now))[0]!;
}

function columnsOf({ name, external_record_id }: Fields) {
  return {
    ...(name !== undefined && { name }),
    ...(external_record_id !== undefined && { external_record_id }),
  };
}

/** What an agent belongs to, by the columns that attach it; undefined where a request says nothing. */
interface Teams {
  call_center_id: bigint[] | undefined;
  buyer_id: bigint[] | undefined;
}

async function teamsOf(db: Db, { call_center_ids, buyer_ids }: Fields): Promise<Teams> {
  return {
    call_center_id:
      call_center_ids === undefined
        ? undefined
        : await resolveReferences(db, 'call_centers', call_center_ids ?? [], {
            field: 'call_center_ids',
          }),
    buyer_id:
      buyer_ids === undefined
        ? undefined
        : await resolveReferences(db, 'buyers', buyer_ids ?? [], { field: 'buyer_ids' }),
  };
}

async function writeTeams(
  db: Db,
  agent_id: bigint,
  { call_center_id, buyer_id }: Teams,
): Promise<void> {
  if (call_center_id)
    await replaceAttached(db, 'agent_call_centers', { agent_id }, { call_center_id });
  if (buyer_id) await replaceAttached(db, 'agent_buyers', { agent_id }, { buyer_id });
}
