import { PermissionMatrix } from '../editors/permission-matrix';
import { InvitedPeople } from '../views/people/invited-people';
import { noun } from './layout';

export const accessControlLists = noun({
  noun: 'access_control_lists',
  words: { singular: 'team', plural: 'teams' },
  about: 'A team says what its users may do, and with which buyers, offers and sources.',
  title: ({ name, id }) => (name as string | null) ?? `Team ${String(id)}`,
  groups: [
    {
      title: 'Team',
      fields: [
        { field: 'name', help: '' },
        {
          field: 'users_emails',
          label: 'Users',
          editor: InvitedPeople,
          help: 'Addresses without an account are invited.',
        },
      ],
    },
    {
      title: 'What it may do',
      fields: [
        {
          field: 'superuser',
          label: 'Everything, with all records',
          help: 'For owners: the ticks below do not matter then.',
        },
        {
          field: 'permissions',
          label: 'Permissions',
          editor: PermissionMatrix,
          help: 'For buyers, groups, offers and what belongs to them: only with those that the team is granted.',
          when: ({ superuser }) => superuser !== true,
        },
      ],
    },
    {
      title: 'With which records',
      help: 'With none of these, the team sees everything in the company. A partner is granted its own.',
      when: ({ superuser }) => superuser !== true,
      fields: [
        { field: 'buyer_ids', label: 'Buyers', help: '' },
        { field: 'buyer_group_ids', label: 'Groups', help: 'With the buyers in them.' },
        {
          field: 'offer_ids',
          label: 'Offers',
          help: 'Without buyers and sources, the team sees all calls and leads of these.',
        },
        {
          field: 'traffic_source_ids',
          label: 'Sources',
          help: 'The team sees the calls and leads of these and what they are paid, but not what buyers pay.',
        },
        {
          field: 'all_offers',
          label: 'Calls of its buyers and sources at any offer',
          help: 'Otherwise only at the offers above.',
        },
      ],
    },
  ],
  columns: [
    'name',
    { name: 'users_emails', title: 'Users' },
    { name: 'superuser', title: 'Everything' },
    {
      name: 'permissions',
      title: 'Permissions',
      show: ({ permissions }) => (permissions as unknown[]).length,
    },
    {
      name: 'buyer_ids',
      title: 'Buyers',
      show: ({ buyer_ids: ids }) => (ids as unknown[]).length,
    },
    {
      name: 'traffic_source_ids',
      title: 'Sources',
      show: ({ traffic_source_ids: ids }) => (ids as unknown[]).length,
    },
  ],
  copy: { except: ['users_emails'] },
  deletion: {
    title: 'Delete',
    consequence: 'Its users remain, without what the team lets them do.',
    done: 'Deleted.',
  },
});
