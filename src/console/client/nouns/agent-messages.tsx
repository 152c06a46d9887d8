import { RecordName, RecordNames } from '../noun/record-name';
import { noun } from './layout';

export const agentMessages = noun({
  noun: 'agent_messages',
  words: { singular: 'message', plural: 'messages' },
  about: 'Short notes to agents, shown at once to those who are signed in to their screen.',
  title: ({ content }) => String(content).slice(0, 60),
  groups: [
    {
      title: 'Message',
      fields: [{ field: 'content', label: 'Text', isWide: true, help: '' }],
    },
    {
      title: 'To whom',
      help: 'With none of these, it goes to all agents.',
      fields: [
        { field: 'call_center_ids', label: 'Agents of these call centers', help: '' },
        { field: 'buyer_ids', label: 'Agents of these buyers', help: '' },
        { field: 'buyer_group_ids', label: 'Agents of the buyers in these groups', help: '' },
        {
          field: 'agent_status_id',
          label: 'Only those in the status',
          help: 'As they are when it is sent.',
        },
      ],
    },
  ],
  columns: [
    { name: 'content', title: 'Text' },
    { name: 'created_at', title: 'Sent' },
    { name: 'agent_widget_count', title: 'Agents reached' },
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
      title: 'From',
      show: ({ user_id: id }) => <RecordName noun="users" id={id} />,
    },
  ],
  order: 'created_at',
});
