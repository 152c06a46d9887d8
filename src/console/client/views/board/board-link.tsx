import { useState } from 'preact/hooks';
import { ok } from '../../api';
import { useAction, useLoaded } from '../../loading';
import { Panel, Problem, Show } from '../../parts/basics';
import { Select } from '../../parts/select';
import { boardLink, linkTo } from '../../route';
import { useSession } from '../../session';
import { currentZone } from '../../zone';
import { CopyText } from '../posting';

/** Shown in the list of keys. */
const NAME = 'Wallboard';
/** Enough for the figures, and for nothing else. */
const PERMISSIONS = ['calls:read', 'buyers:read'] as const;

/** Makes links to the board, which work without signing in. */
export function BoardLinkView() {
  const { api, me, may } = useSession();
  const loaded = useLoaded(async () => {
    if (me.user) return [me.user.email];
    if (!may('users:read')) return [];
    const query = { columns: ['id', 'email'], per_page: 100 };
    const { users } = await ok(api.GET('/users', { params: { query } }));
    return users.flatMap(({ email }) => (email ? [email] : []));
  }, [api]);
  return (
    <>
      <h1>Wallboard</h1>
      <p class="quiet">
        Calls, revenue and caps in large figures, for a screen on a wall. It is opened by a link
        that reads calls and buyers, does nothing else, and works until it is revoked.
      </p>
      <Show of={loaded}>{(emails) => <NewLink emails={emails} />}</Show>
    </>
  );
}

function NewLink({ emails }: { emails: readonly string[] }) {
  const { api } = useSession();
  const [email, setEmail] = useState(emails[0] ?? '');
  const [token, setToken] = useState('');
  const { run, is_busy, error } = useAction(async () => {
    const body = {
      name: NAME,
      kind: 'user_token' as const,
      user_email: email,
      permissions: [...PERMISSIONS],
    };
    setToken((await ok(api.POST('/access_tokens', { body }))).token ?? '');
  });
  if (emails.length === 0)
    return (
      <p class="notice warn">
        A link belongs to a user, and there is none yet:{' '}
        <a href={linkTo('users', 'new')}>add one</a>.
      </p>
    );
  return (
    <Panel title="Make a board link">
      {emails.length > 1 && (
        <Select
          label="It sees what this user sees"
          choices={Object.fromEntries(emails.map((name) => [name, name]))}
          value={email}
          onChange={setEmail}
        />
      )}
      <div class="actions">
        <button type="button" class="primary" disabled={is_busy} onClick={() => void run()}>
          Make a board link
        </button>
        <a href={linkTo('access_tokens', null, { fulltext: NAME })}>Links that were made</a>
      </div>
      <Problem error={error} />
      {token !== '' && (
        <>
          <p class="notice good" role="status">
            Copy it now: it is shown this once. Whoever has it sees the board.
          </p>
          <CopyText label="board link" text={location.origin + boardLink(token, currentZone())} />
          <a href={boardLink(token, currentZone())} target="_blank" rel="noreferrer">
            Open the board
          </a>
        </>
      )}
    </Panel>
  );
}
