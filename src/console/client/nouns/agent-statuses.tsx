import { noun } from './layout';

export const agentStatuses = noun({
  noun: 'agent_statuses',
  words: { singular: 'agent status', plural: 'agent statuses' },
  about: 'The states that agents choose from: available, at lunch, in training.',
  title: ({ name, id }) => (name as string | null) ?? `Status ${String(id)}`,
  groups: [
    {
      title: 'Status',
      fields: [
        { field: 'name', help: 'As agents see it in their menu.' },
        {
          field: 'key',
          label: 'Key',
          placeholder: 'at_lunch',
          help: 'For your own programs: small letters, digits and _. Fixed for built-in statuses.',
        },
        {
          field: 'is_online',
          label: 'Counts as online',
          help: 'An agent in this status can be given calls. Fixed for built-in statuses.',
        },
        { field: 'position', label: 'Place in menus', help: 'The lowest comes first.' },
      ],
    },
  ],
  columns: [
    'name',
    'key',
    { name: 'is_online', title: 'Counts as online' },
    { name: 'position', title: 'Place in menus' },
    { name: 'built_in', title: 'Built in' },
  ],
});
