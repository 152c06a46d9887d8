import type { Projection } from '../../data/projection/projection';
import type { SortKey } from '../../data/projection/list-statements';
import { buildReferenceConditions } from '../../data/records';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { loadUnsavedReply } from '../../api/records/record';

export const projection = {
  schema: 'AgentStatusTimestamp',
  singular: 'agent_status_timestamp',
  plural: 'agent_status_timestamps',
  appendOnly: true,
  fulltext: `lower(coalesce(t.key, ''))`,
  columns: {
    id: true,
    company_id: true,
    user_id: true,
    collaborator_id: 't.user_id',
    agent_widget_id: 't.agent_id',
    agent_status_id: true,
    created_at: true,
    updated_at: true,
    key: true,
  },
} as const satisfies Projection<
  'AgentStatusTimestamp',
  'agent_status_timestamp',
  'agent_status_timestamps'
>;

const orders: Record<string, SortKey> = {
  key: { sql: 't.key', type: 'text' },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
};

export const agentStatusTimestamps = ({ clock }: Deps) =>
  ({
    listAgentStatusTimestamps: ({ query, db }) => {
      const filters = buildReferenceConditions(query, { agent_id: 'agents', user_id: 'users' });
      return page(query, { db, now: clock(), projection, orders, filters });
    },
    newAgentStatusTimestamp: ({ db }) => loadUnsavedReply({ db, now: clock(), projection }, {}),
  }) satisfies Partial<Handlers>;
