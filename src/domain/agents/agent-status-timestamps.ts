import { noun } from '../../api/records/noun';

export const agentStatusTimestamp = noun({
  schema: 'AgentStatusTimestamp',
  singular: 'agent_status_timestamp',
  plural: 'agent_status_timestamps',
  appendOnly: true,
  search: ['key'],
  computed: { collaborator_id: 't.user_id', agent_widget_id: 't.agent_id' },
  filters: { agent_id: 't.agent_id = {agent_id}::bigint' },
});
