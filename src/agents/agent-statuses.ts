import { defaultsOf, type Schemas } from '../contract';
import { commonColumns, type Projection, type SortKey } from '../db/projection';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { page } from '../http/list';
import { recordHandlers } from '../http/record-handlers';
import { HttpProblem } from '../errors';
import { withDefaults } from '../http/defaults';

type Fields = Schemas['AgentStatusFields'];
const DEFAULTS = defaultsOf('AgentStatusFields') as { is_online: boolean; position: number };

export const projection = {
  schema: 'AgentStatus',
  singular: 'agent_status',
  plural: 'agent_statuses',
  fulltext: `lower(coalesce(t.key, '') || E'\\n' || coalesce(t.name, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('agent_statuses'),
    type: `'AgentStatus'`,
    key: true,
    name: true,
    is_online: true,
    position: true,
    built_in: 'coalesce(t.built_in, false)',
  },
} as const satisfies Projection<'AgentStatus', 'agent_status', 'agent_statuses'>;

const orders: Record<string, SortKey> = {
  position: { sql: 't.position', type: 'bigint' },
  key: { sql: 't.key', type: 'text' },
  name: { sql: 't.name', type: 'text' },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
  updated_at: { sql: 't.updated_at', type: 'timestamptz' },
};

/** What agents can be doing. */
export const agentStatuses = ({ clock }: Deps) => {
  const records = recordHandlers(projection, clock);
  const key = (company_id: bigint, id: bigint) => ({ company_id_id: { company_id, id } });
  return {
    listAgentStatuses: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),
    newAgentStatus: (call) => records.unsaved(call, DEFAULTS),
    showAgentStatus: records.show,

    createAgentStatus: (call) =>
      records.create(call, async (tx, sent, now) => {
        const own = columnsOf({ ...DEFAULTS, ...withDefaults<Fields>(sent, DEFAULTS) }) as Pick<
          Required<Fields>,
          'key' | 'name'
        > &
          typeof DEFAULTS;
        const data = {
          ...own,
          company_id: tx.company_id,
          user_updated_at: now,
          created_at: now,
          updated_at: now,
        };
        return (await tx.prisma.agentStatus.create({ data, select: { id: true } })).id;
      }),

    updateAgentStatusSettings: (call) =>
      records.update(
        { ...call, body: withDefaults<Schemas['AgentStatusUpdate']>(call.body, DEFAULTS) },
        async (tx, id, { fields, now }) => {
          const where = key(tx.company_id, id);
          const before = await tx.prisma.agentStatus.findUniqueOrThrow({
            where,
            select: { built_in: true, key: true, is_online: true },
          });
          if (before.built_in) requireMeaning(before, fields);
          await tx.prisma.agentStatus.update({
            where,
            data: { ...columnsOf(fields), user_updated_at: now, updated_at: now },
          });
        },
      ),

    deleteAgentStatus: (call) =>
      records.delete(call, async (tx, id, now) => {
        const where = key(tx.company_id, id);
        const { built_in } = await tx.prisma.agentStatus.findUniqueOrThrow({
          where,
          select: { built_in: true },
        });
        if (built_in)
          throw HttpProblem.field(
            'id',
            'names a built-in status, which cannot be deleted; it can be renamed',
          );
        await requireEmpty(tx, id);
        await tx.prisma.agentStatus.update({
          where,
          data: { deleted_at: now, updated_at: now, user_updated_at: now },
        });
      }),
  } satisfies Partial<Handlers>;
};

const OWN = [
  'key',
  'name',
  'is_online',
  'position',
  'external_record_id',
] as const satisfies readonly (keyof Fields)[];

const columnsOf = (fields: Fields) =>
  Object.fromEntries(
    OWN.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  ) as {
    key?: string;
    name?: string;
    is_online?: boolean;
    position?: number;
    external_record_id?: string | null;
  };

/** What is built in means the same in every company. */
function requireMeaning(
  before: { key: string; is_online: boolean },
  { key, is_online }: Fields,
): void {
  if (key !== undefined && key !== before.key)
    throw HttpProblem.field(
      'key',
      `must stay ${before.key}: the status is built in and can only be renamed`,
    );
  if (is_online !== undefined && is_online !== before.is_online) {
    throw HttpProblem.field(
      'is_online',
      `must stay ${before.is_online}: the status is built in and can only be renamed`,
    );
  }
}

/** The status is locked, and whoever puts an agent into one locks it too: nobody comes in meanwhile. */
async function requireEmpty(db: Db, agent_status_id: bigint): Promise<void> {
  const agents = await db.prisma.agent.count({ where: { agent_status_id, deleted_at: null } });
  if (agents > 0)
    throw HttpProblem.field(
      'id',
      `names a status that ${agents} of your agents are in; put them into another first`,
    );
}
