import { commonColumns, type Projection } from '../../data/projection/projection';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { createStatus, DEFAULTS, deleteStatus, updateStatus } from './save-status';
import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';

export const projection = {
  schema: 'AgentStatus',
  singular: 'agent_status',
  plural: 'agent_statuses',
  fulltext: `lower(coalesce(t.key, '') || E'\\n' || coalesce(t.name, '')
    || E'\\n' || coalesce(t.external_record_id, ''))`,
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
  ...BY_TIMES,
};

export const agentStatuses = ({ clock }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listAgentStatuses: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),
    newAgentStatus: (call) => records.showUnsaved(call, DEFAULTS),
    showAgentStatus: records.show,
    createAgentStatus: (call) => records.create(call, createStatus),
    updateAgentStatusSettings: (call) => records.update(call, updateStatus),
    deleteAgentStatus: (call) => records.delete(call, deleteStatus),
  } satisfies Partial<Handlers>;
};
