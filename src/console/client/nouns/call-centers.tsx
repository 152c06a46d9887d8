import { RecordNames } from '../noun/record-name';
import { noun } from './layout';

export const callCenters = noun({
  noun: 'call_centers',
  words: { singular: 'call center', plural: 'call centers' },
  about: 'A site or team in which agents work. Messages can be sent to all of its agents.',
  title: ({ name, id }) => (name as string | null) ?? `Call center ${String(id)}`,
  groups: [
    {
      title: 'Call center',
      fields: [
        'name',
        { field: 'user_call_center_id', label: 'Your own ID of the call center', help: '' },
        { field: 'description', label: 'Note', isWide: true, help: '' },
      ],
    },
  ],
  columns: [
    'name',
    { name: 'agents_count', title: 'Agents' },
    {
      name: 'agent_ids',
      title: 'Who they are',
      show: ({ agent_ids: ids }) => <RecordNames noun="agents" ids={ids} />,
    },
    { name: 'description', title: 'Note' },
  ],
});
