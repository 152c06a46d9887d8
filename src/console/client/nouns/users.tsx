import { dayTime } from '../format';
import { RecordNames } from '../noun/record-name';
import type { Json } from '../transport';
import { InvitationPanel } from '../views/people/invitation-panel';
import { describeDelivery, maySeeLink, showInvitationLink } from '../views/people/invitation';
import { noun } from './layout';
import { stateColumn, type State } from './states';

const describeUser = ({ joined_at: joined, invited_at: invited }: Json): State => {
  if (joined) return { text: 'active', tone: 'good' };
  return invited ? { text: 'invited', tone: 'warn' } : { text: 'not invited', tone: 'plain' };
};

export const users = noun({
  noun: 'users',
  words: { singular: 'user', plural: 'users' },
  about: 'A person of your company or of a partner who signs in. Teams say what users may do.',
  title: ({ name, email }) => (name as string | null) ?? String(email),
  groups: [
    {
      title: 'User',
      fields: [
        { field: 'email', label: 'E-mail address', help: 'Unique in the company.' },
        { field: 'name', help: '' },
        {
          field: 'invite',
          label: 'Send an invitation',
          help: 'With a link by which the person signs in, valid for seven days.',
        },
      ],
    },
    {
      title: 'What the user may do',
      help: 'A user may do what all of their teams may. Without a team, nothing.',
      fields: [{ field: 'team_ids', label: 'Teams', help: '' }],
    },
  ],
  hidden: ['reset_second_factor'],
  columns: [
    { name: 'email', title: 'E-mail address' },
    'name',
    stateColumn('joined_at', describeUser, ['invited_at']),
    {
      name: 'team_ids',
      title: 'Teams',
      show: ({ team_ids: ids }) => <RecordNames noun="access_control_lists" ids={ids} />,
    },
    {
      name: 'last_seen_at',
      title: 'Last seen',
      show: ({ last_seen_at: at }) => dayTime(at as string | null),
    },
    { name: 'has_second_factor', title: 'Second factor' },
    { name: 'has_password', title: 'Password', isHidden: true },
    { name: 'invited_at', title: 'Invited', isHidden: true },
  ],
  state: describeUser,
  stateNeeds: ['joined_at', 'invited_at'],
  panels: [InvitationPanel],
  actions: [
    {
      title: ({ invited_at: invited }) => (invited ? 'Invite again' : 'Invite'),
      scope: 'users:update',
      when: ({ joined_at: joined }) => !joined,
      run: async ({ record, session, send, reload }) => {
        await send('POST', `/users/${String(record.id)}/invite`);
        await reload();
        return `${String(record.email)} is invited. ${describeDelivery(session)}. Earlier links no longer work.`;
      },
    },
    {
      title: () => 'Link of the invitation',
      scope: 'users:update',
      when: (user, session) => maySeeLink(session, user),
      run: async ({ record, session }) => {
        await showInvitationLink(session, String(record.id));
        return undefined;
      },
    },
    {
      title: () => 'Take away second factor',
      scope: 'users:update',
      when: ({ has_second_factor: hasOne }) => hasOne === true,
      run: async ({ record, send, reload }) => {
        const question = 'The user then signs in without a code, until a new app is set up. Go on?';
        if (!confirm(question)) return undefined;
        await send('PUT', `/users/${String(record.id)}`, { reset_second_factor: true });
        await reload();
        return 'The second factor was taken away.';
      },
    },
  ],
  deletion: {
    title: 'Delete',
    consequence: 'Their keys and sessions end at once. The address can be used again.',
    done: 'Deleted.',
  },
});
