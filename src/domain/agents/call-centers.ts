import { noun, selectIds } from '../../api/records/noun';

const AGENTS = 'agent_call_centers';

export const callCenter = noun({
  schema: 'CallCenter',
  singular: 'call_center',
  plural: 'call_centers',
  search: ['name', 'user_call_center_id', 'description', 'external_record_id'],
  computed: {
    agents_count: `(SELECT count(*) FROM ${AGENTS} m
      WHERE m.company_id = t.company_id AND m.call_center_id = t.id)`,
    agent_ids: selectIds(AGENTS, 'call_center_id', 'agent_id'),
  },
  detach: { deleted: ['agentCallCenter'] },
});
