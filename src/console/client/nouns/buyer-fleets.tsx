import { FleetBuyers } from '../views/fleet-buyers';
import { noun } from './layout';

export const buyerFleets = noun({
  noun: 'buyer_fleets',
  words: { singular: 'fleet', plural: 'fleets' },
  about: 'A fleet is a label for buyers that belong together. It does not change who gets a call.',
  title: ({ name, id }) => (name as string | null) ?? `Fleet ${String(id)}`,
  groups: [
    {
      title: 'Fleet',
      fields: [
        'name',
        {
          field: 'user_fleet_id',
          label: 'Your key for it',
          placeholder: 'east_coast',
          help: 'Small letters, digits and underscores. API: user_fleet_id.',
        },
        { field: 'description', label: 'Note', isWide: true },
      ],
    },
  ],
  columns: [
    'name',
    { name: 'user_fleet_id', title: 'Your key' },
    'description',
    { name: 'buyers_count', title: 'Buyers' },
  ],
  panels: [FleetBuyers],
});
