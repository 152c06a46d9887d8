import { PermissionMatrix } from '../editors/permission-matrix';
import { describeBrowser } from '../account/describe-browser';
import { ago, dayTime, words } from '../format';
import { RecordName } from '../noun/record-name';
import { Badge } from '../parts/basics';
import { ThisOne, TokenFacts } from '../views/account/token-facts';
import type { Json } from '../transport';
import { noun } from './layout';

const KINDS: Readonly<Record<string, string>> = {
  key_pair: 'Key pair of the company',
  user_token: 'Token of a user',
  session: 'Session',
};
const describeKind = ({ kind }: Json): string => KINDS[String(kind)] ?? words(String(kind));

const isSession = ({ kind }: Json): boolean => kind === 'session';
const isKeyPair = ({ kind }: Json): boolean => kind === 'key_pair';

export const accessTokens = noun({
  noun: 'access_tokens',
  words: { singular: 'key', plural: 'keys and sessions' },
  about: 'Credentials for programs, and the sessions of people who are signed in.',
  title: (token) =>
    isSession(token)
      ? `Session of ${String(token.user_email)}, ${describeBrowser(String(token.user_agent ?? ''))}`
      : ((token.name as string | null) ?? `Key ${String(token.id)}`),
  groups: [
    {
      title: 'Key',
      // Sessions are ended, not changed.
      when: (inputs) => !isSession(inputs),
      fields: [
        { field: 'name', label: 'What it is for', placeholder: 'CRM import', help: '' },
        {
          field: 'kind',
          label: 'Kind',
          help: 'A key pair belongs to the company; a token to a user, whose teams say what it may do.',
        },
        {
          field: 'user_email',
          label: 'E-mail address of the user',
          help: '',
          when: ({ kind }) => kind === 'user_token',
        },
        { field: 'expires_at', label: 'Expires', help: 'Empty: never.' },
      ],
    },
    {
      title: 'What it may do',
      when: (inputs) => isKeyPair(inputs) || inputs.superuser === true,
      fields: [
        {
          field: 'superuser',
          label: 'Everything, with all records',
          help: 'The ticks below do not matter then.',
        },
        {
          field: 'permissions',
          label: 'Permissions',
          editor: PermissionMatrix,
          help: '',
          when: ({ superuser }) => superuser !== true,
        },
      ],
    },
  ],
  columns: [
    { name: 'name', title: 'What it is for' },
    {
      name: 'kind',
      needs: ['public_key'],
      show: (token) => (
        <>
          <Badge>{describeKind(token)}</Badge> <ThisOne token={token} />
        </>
      ),
    },
    {
      name: 'user_id',
      title: 'User',
      show: ({ user_id: id }) => <RecordName noun="users" id={id} />,
    },
    {
      name: 'user_agent',
      title: 'Device',
      show: ({ user_agent: agent }) => describeBrowser(String(agent ?? '')),
    },
    { name: 'ip', title: 'From address' },
    {
      name: 'last_seen_at',
      title: 'Last used',
      show: ({ last_seen_at: at }) => ago(at as string | null),
    },
    { name: 'superuser', title: 'Everything' },
    { name: 'created_at', title: 'Made' },
    { name: 'public_key', title: 'Public key', isHidden: true },
    {
      name: 'expires_at',
      title: 'Ends',
      show: ({ expires_at: at }) => (at ? dayTime(at as string) : 'never'),
    },
  ],
  order: 'created_at',
  panels: [TokenFacts],
  secrets: (answer) => [
    ['Public key', answer.private_key && (answer.access_token as Json).public_key],
    ['Private key', answer.private_key],
    ['User token', answer.token],
  ],
  deletion: {
    title: 'Revoke',
    consequence: 'Whatever uses it is refused at once.',
    done: 'Revoked.',
    nameKind: (token) => (isSession(token) ? 'session' : 'key'),
  },
});
