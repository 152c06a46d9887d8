import { ago, dayTime, words } from '../format';
import { useAction, useLoaded } from '../loading';
import { Badge, Panel, Problem, Show, Table, type Column } from '../parts/basics';
import { describeBrowser } from './describe-browser';
import { useOwnGate } from './gate';

interface OwnSession {
  id: number;
  is_current: boolean;
  last_seen_at: string | null;
  idle_ends_at: string;
  ip: string | null;
  user_agent: string | null;
  method: string;
  second_factor: boolean;
}

interface OwnSessions {
  sessions: readonly OwnSession[];
}

const COLUMNS: readonly Column<OwnSession>[] = [
  { name: 'Browser', of: ({ user_agent: agent }) => describeBrowser(agent ?? '') },
  { name: 'From address', of: ({ ip }) => ip },
  {
    name: 'Signed in by',
    of: ({ method, second_factor: hasSecond }) =>
      hasSecond ? `${words(method)}, second factor` : words(method),
  },
  { name: 'Last used', of: ({ last_seen_at: at }) => ago(at) },
  { name: 'Ends unused', of: ({ idle_ends_at: at }) => dayTime(at) },
];

/** Where the person is signed in; each can be ended. */
export function Sessions() {
  const send = useOwnGate();
  const loaded = useLoaded(async () => (await send<OwnSessions>('GET', '/sessions')).sessions, []);
  const end = useAction(async (id?: number) => {
    await send('DELETE', id === undefined ? '/sessions' : `/sessions/${id}`);
    await loaded.reload();
  });
  const ending: Column<OwnSession> = {
    name: 'End',
    of: ({ id, is_current: isCurrent }) =>
      isCurrent ? (
        <Badge tone="good">this one</Badge>
      ) : (
        <button
          type="button"
          class="danger"
          aria-label={`End session ${id}`}
          disabled={end.is_busy}
          onClick={() => void end.run(id)}
        >
          End
        </button>
      ),
  };
  return (
    <Panel title="Where you are signed in">
      <Problem error={end.error} />
      <Show of={loaded}>
        {(sessions) => (
          <>
            <Table
              caption="Your sessions"
              columns={[...COLUMNS, ending]}
              rows={sessions}
              getKey={({ id }) => id}
              empty="None."
            />
            {sessions.length > 1 && (
              <button type="button" class="danger" onClick={() => void end.run()}>
                End all others
              </button>
            )}
          </>
        )}
      </Show>
    </Panel>
  );
}
