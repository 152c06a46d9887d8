import type { ComponentChild } from 'preact';
import { describeBrowser } from '../../account/describe-browser';
import { ago, dayTime, words } from '../../format';
import { RecordName } from '../../noun/record-name';
import type { PanelProps } from '../../nouns/layout';
import { Badge, Facts, Panel } from '../../parts/basics';
import { useSession } from '../../session';
import type { Json } from '../../transport';

const at = (value: unknown): string => dayTime(value as string | null | undefined);

/** Marks the key or session with which the console itself is used now. */
export function ThisOne({ token }: { token: Json }) {
  const { me, person } = useSession();
  const isCurrent = person ? token.id === person.session.id : token.public_key === me.public_key;
  return isCurrent ? <Badge tone="good">this one</Badge> : null;
}

/** Whose a key is, until when, and of a session where it was begun. */
export function TokenFacts({ record }: PanelProps) {
  const facts: [string, ComponentChild][] = [
    ['Public key', record.public_key as string],
    ['User', <RecordName key="user" noun="users" id={record.user_id} />],
    ['Made', at(record.created_at)],
    ['Ends', record.expires_at ? at(record.expires_at) : 'never'],
  ];
  return (
    <Panel title="About" headerContent={<ThisOne token={record} />}>
      <Facts facts={record.kind === 'session' ? [...facts, ...listSessionFacts(record)] : facts} />
    </Panel>
  );
}

const listSessionFacts = (session: Json): [string, ComponentChild][] => [
  ['Ends in any case', at(session.ends_at)],
  ['Last used', ago(session.last_seen_at as string | null)],
  ['Signed in by', words(session.sign_in_method as string | null)],
  ['Second factor', session.second_factor === true ? 'yes' : 'no'],
  ['From address', session.ip as string | null],
  ['Device', describeBrowser(String(session.user_agent ?? ''))],
  ['As it named itself', session.user_agent as string | null],
];
