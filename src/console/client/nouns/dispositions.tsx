import { noun } from './layout';

export const dispositions = noun({
  noun: 'dispositions',
  words: { singular: 'disposition', plural: 'dispositions', also: 'an outcome' },
  about: 'Dispositions say how a call or a lead ended for those who work on it: sold, call back.',
  title: ({ name, key }) => (name as string | null) ?? String(key),
  groups: [
    {
      title: 'Disposition',
      fields: [
        { field: 'name', placeholder: 'Call back later' },
        {
          field: 'key',
          placeholder: 'call_back',
          help: 'What reports and programs call it: small letters, digits and underscores.',
        },
        { field: 'position', label: 'Position in menus', help: 'The lowest comes first.' },
      ],
    },
  ],
  columns: ['name', 'key', { name: 'position', title: 'Position' }, 'created_at'],
  order: 'position',
});
