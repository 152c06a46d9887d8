import type { Schemas } from '../../platform/contract/contract';
import { commonColumns, type Projection } from '../../data/projection/projection';
import { buildReferenceConditions } from '../../data/records';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { findOfflineStatus } from './built-in-statuses';
import { changeStatus, resolveStatus } from './change-status';
import { deleteAgent } from './delete-agent';
import { requireOwnAgent } from './events';
import { createAgent, resolveAgentReferences, updateAgent } from './save-agent';
import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';

// Agents: the users who take calls, their statuses and call centers, and messages to them. Locks
// are taken in this order: status, call center, buyer group, buyer, user, message, agent; several
// agents in the order of their ids.

const attached = (table: string, column: string) => `ARRAY(
  SELECT m.${column}
  FROM ${table} m
  WHERE m.company_id = t.company_id AND m.agent_id = t.id
  ORDER BY m.${column}
)`;

export const projection = {
  schema: 'Agent',
  singular: 'agent',
  plural: 'agents',
  joins: {
    u: 'LEFT JOIN users u ON u.company_id = t.company_id AND u.id = t.user_id',
    s: 'LEFT JOIN agent_statuses s ON s.company_id = t.company_id AND s.id = t.agent_status_id',
  },
  // No index: companies have few agents.
  fulltext: `lower(coalesce(t.name, u.name, '') || E'\\n' || coalesce(u.email, '')
    || E'\\n' || coalesce(t.external_record_id, ''))`,
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
  ...BY_TIMES,
};

const IN_CALL_CENTER = `EXISTS (
  SELECT FROM agent_call_centers m
  JOIN call_centers c ON c.company_id = m.company_id AND c.id = m.call_center_id
  WHERE m.company_id = t.company_id AND m.agent_id = t.id
    AND lower({call_center_id}::text) IN (c.id::text, c.uuid::text)
)`;

export const agents = ({ clock }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listAgents: async ({ query: { mine, ...query }, db, caller }) => {
      const message = 'must be left out: these credentials belong to no agent';
      const agent = mine
        ? await requireOwnAgent(db, caller, { field: 'mine', message })
        : undefined;
      const filters = {
        ...buildReferenceConditions(query, { agent_status_id: 'agent_statuses', user_id: 'users' }),
        call_center_id: IN_CALL_CENTER,
        own: 't.id = {own}::bigint',
      };
      return page(
        { ...query, ...(agent && { own: agent.id }) },
        { db, now: clock(), projection, orders, filters },
      );
    },
    newAgent: async (call) =>
      records.showUnsaved(call, { agent_status_id: Number(await findOfflineStatus(call.db)) }),
    showAgent: records.show,
    createAgent: (call) => records.create(call, createAgent),

    updateAgent: (call) =>
      records.updateLockingFirst(
        call,
        resolveAgentReferences,
        (tx, id, { fields, now, ahead: references }) =>
          updateAgent(tx, id, { fields, references, now }),
      ),

    updateAgentStatus: (call) =>
      records.updateLockingFirst(
        call,
        (tx, fields: Schemas['AgentStatusChange']) => resolveStatus(tx, fields),
        (tx, id, { now, ahead: agentStatusId }) =>
          changeStatus(tx, id, { agent_status_id: agentStatusId, now }),
      ),

    deleteAgent: (call) => records.delete(call, deleteAgent),
  } satisfies Partial<Handlers>;
};
