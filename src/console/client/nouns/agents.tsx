import { words } from '../format';
import { RecordName, RecordNames } from '../noun/record-name';
import { AgentStatus } from '../views/agents/agent-status';
import type { Json } from '../transport';
import { noun } from './layout';
import { stateColumn, type State } from './states';

const describeAgent = ({ online, status_key: key }: Json): State => ({
  text: words(key as string | null),
  tone: online === true ? 'good' : 'plain',
});

export const agents = noun({
  noun: 'agents',
  words: { singular: 'agent', plural: 'agents' },
  about: 'A person who takes calls for buyers, with a status that says whether calls are welcome.',
  title: ({ name, user_email: email, id }) =>
    (name as string | null) ?? (email as string | null) ?? `Agent ${String(id)}`,
  groups: [
    {
      title: 'Agent',
      fields: [
        { field: 'name', help: '' },
        {
          field: 'user_email',
          label: 'E-mail address',
          help: 'A user with this address is made, unless there is one.',
        },
        {
          field: 'user_id',
          label: 'Or an existing user',
          help: 'Choose one, and leave the address empty.',
        },
        { field: 'agent_status_id', label: 'Status', help: 'A new agent starts offline.' },
      ],
    },
    {
      title: 'Works for',
      fields: [
        { field: 'call_center_ids', label: 'Call centers', help: '' },
        { field: 'buyer_ids', label: 'Buyers', help: '' },
      ],
    },
  ],
  columns: [
    {
      name: 'name',
      show: ({ name, user_email: email }) => String(name ?? email),
      needs: ['user_email'],
    },
    stateColumn('status_key', describeAgent, ['online']),
    { name: 'status_changed_at', title: 'Since' },
    { name: 'user_email', title: 'E-mail address' },
    {
      name: 'call_center_ids',
      title: 'Call centers',
      show: ({ call_center_ids: ids }) => <RecordNames noun="call_centers" ids={ids} />,
    },
    {
      name: 'buyer_ids',
      title: 'Buyers',
      show: ({ buyer_ids: ids }) => <RecordNames noun="buyers" ids={ids} />,
    },
    {
      name: 'user_id',
      title: 'User',
      isHidden: true,
      show: ({ user_id: id }) => <RecordName noun="users" id={id} />,
    },
  ],
  state: describeAgent,
  stateNeeds: ['online', 'status_key'],
  panels: [AgentStatus],
});
