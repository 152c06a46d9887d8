import type { ComponentChild } from 'preact';
import { useEffect } from 'preact/hooks';
import { Texts } from '../../form/controls';
import { dayTime } from '../../format';
import { useAction, useLoaded } from '../../loading';
import type { EditorProps } from '../../nouns/layout';
import { Badge, Problem } from '../../parts/basics';
import { linkTo } from '../../route';
import { useSession, type Session } from '../../session';
import { showToast } from '../../toast';
import { send, type Json } from '../../transport';
import { describeDelivery, isOpenInvitation, maySeeLink, showInvitationLink } from './invitation';

const MAX_USERS = 1_000;

/** The teams that see a record; a team sees itself. */
const listTeams = (record: Json): readonly unknown[] => {
  if (record.id === undefined) return [];
  return ((record.type === 'AccessControlList' ? [record.id] : record.team_ids) as unknown[]) ?? [];
};

/** The users of teams, for callers who may know them. */
async function loadPeople(session: Session, teams: readonly unknown[]): Promise<Json[]> {
  const { transport } = session;
  if (teams.length === 0 || !session.may('users:read', 'access_control_lists:read')) return [];
  const { data } = await send(transport, 'GET', '/access_control_lists', {
    query: { ids: teams.join(','), columns: ['id', 'user_ids'], per_page: MAX_USERS },
  });
  const ids = (data.access_control_lists as { user_ids: number[] }[]).flatMap(
    ({ user_ids }) => user_ids,
  );
  if (ids.length === 0) return [];
  const query = {
    ids: [...new Set(ids)].slice(0, MAX_USERS).join(','),
    columns: ['id', 'email', 'name', 'joined_at', 'invited_at'],
    per_page: MAX_USERS,
  };
  return (await send(transport, 'GET', '/users', { query })).data.users as Json[];
}

const usePeople = (record: Json) => {
  const session = useSession();
  const teams = listTeams(record);
  return useLoaded(() => loadPeople(session, teams), [teams.join(','), record.updated_at]);
};

/** Addresses that were typed, and when: once their users are there, the page says so. */
const typed = new Map<string, number>();
/** The clocks of browser and server differ. */
const CLOCK_MS = 60_000;

function announce(session: Session, record: Json, users: readonly Json[]): void {
  const storedAt = Date.parse(String(record.updated_at)) + CLOCK_MS;
  for (const user of users) {
    const email = String(user.email);
    const typedAt = typed.get(email.toLowerCase());
    if (typedAt === undefined || storedAt < typedAt) continue;
    typed.delete(email.toLowerCase());
    if (!isOpenInvitation(user)) showToast(`${email} has an account already, and sees it now.`);
    else showToast(`${email} is invited. ${describeDelivery(session)}.`);
  }
}

/** Addresses to invite, and below them who may sign in already or has been invited. */
export function InvitedPeople(props: EditorProps) {
  const session = useSession();
  const people = usePeople(props.record);
  const users = people.data ?? [];
  useEffect(() => announce(session, props.record, users), [people.data]);
  return (
    <>
      <Texts
        {...props}
        describedBy={undefined}
        placeholder="E-mail address, then Enter"
        onChange={(value) => {
          for (const email of value as string[])
            if (!(props.value as string[]).includes(email))
              typed.set(email.toLowerCase(), Date.now());
          props.onChange(value);
        }}
      />
      {users.length > 0 && (
        <ul class="plain people" aria-label="Who may sign in">
          {users.map((user) => (
            <PersonLine key={String(user.id)} user={user} />
          ))}
        </ul>
      )}
    </>
  );
}

function PersonLine({ user }: { user: Json }) {
  const session = useSession();
  const link = useAction(() => showInvitationLink(session, String(user.id)));
  return (
    <li>
      <a href={linkTo('users', String(user.id))}>{String(user.email)}</a>{' '}
      <Badge tone={isOpenInvitation(user) ? 'warn' : 'good'}>{describeState(user)}</Badge>{' '}
      {maySeeLink(session, user) && (
        <button type="button" disabled={link.is_busy} onClick={() => void link.run()}>
          Link of the invitation
        </button>
      )}
      <Problem error={link.error} />
    </li>
  );
}

const describeState = (user: Json): string => {
  if (!isOpenInvitation(user)) return user.joined_at ? 'active' : 'not invited';
  return `invited ${dayTime(user.invited_at as string)}, not signed in yet`;
};

const MAX_NAMED = 3;

/** The people of a record in one line, for a folded group. */
export function PeopleSummary({ record }: { record: Json }): ComponentChild {
  const users = usePeople(record).data ?? [];
  if (users.length === 0) return <>nobody of this partner yet</>;
  const names = users
    .slice(0, MAX_NAMED)
    .map((user) => `${String(user.email)}${isOpenInvitation(user) ? ' (invited)' : ''}`);
  const more = users.length - names.length;
  return (
    <>
      {names.join(', ')}
      {more > 0 && ` and ${more} more`}
    </>
  );
}
