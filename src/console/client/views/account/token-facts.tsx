import type { ComponentChild } from 'preact';
import { dayTime, words } from '../../format';
import { RecordName } from '../../noun/record-name';
import type { PanelProps } from '../../nouns/layout';
import { Facts, Panel } from '../../parts/basics';
import type { Json } from '../../transport';

const at = (value: unknown): string => dayTime(value as string | null | undefined);

/** Whose a key is, until when, and of a session where it was begun. */
export function TokenFacts({ record }: PanelProps) {
  const facts: [string, ComponentChild][] = [
    ['Public key', record.public_key as string],
    ['User', <RecordName key="user" noun="users" id={record.user_id} />],
    ['Made', at(record.created_at)],
    ['Ends', record.expires_at ? at(record.expires_at) : 'never'],
  ];
  return (
    <Panel title="About">
      <Facts facts={record.kind === 'session' ? [...facts, ...listSessionFacts(record)] : facts} />
    </Panel>
  );
}

const listSessionFacts = (session: Json): [string, ComponentChild][] => [
  ['Ends in any case', at(session.ends_at)],
  ['Last used', at(session.last_seen_at)],
  ['Signed in by', words(session.sign_in_method as string | null)],
  ['Second factor', session.second_factor === true ? 'yes' : 'no'],
  ['From', session.ip as string | null],
  ['Browser', session.user_agent as string | null],
];
