import type { Logger } from 'pino';
import type { Database } from '../db/client';
import { bell, listen, type Bell } from '../db/notifications';

// Hears for all streams of this process that agents have something to be told: one connection that listens, and one statement now and then for
// what a lost notification did not say, and for streams that are over.

/** Told `<company>/<agent>` in the transaction that gives the agent an event. */
export const AGENT_CHANNEL = 'trunkline_agents';

/** How late an event can be whose notification got lost, and how long a stream outlives its credentials. */
const POLL_MS = 2_000;

export interface Followed {
  company_id: bigint;
  agent_id: bigint;
  /** Whose credentials the stream is for. */
  access_token_id: bigint;
  /** The last event that was sent; whoever follows keeps it up to date. */
  after: string;
}

export interface Following {
  /** Whether the credentials were revoked, or may read messages no more, the agent deleted, or the process is stopping. */
  readonly over: boolean;
  /** Waits until there may be something new, or it is over, or for so many milliseconds. */
  rung(ms: number): Promise<void>;
  close(): void;
}

export interface AgentStreams {
  follow(followed: Followed): Following;
  /** Ends all that follow, and whoever comes after. */
  close(): void;
}

interface Follower extends Following {
  followed: Followed;
  over: boolean;
  bell: Bell;
}

const POLL = `SELECT f.n::int, (a.id IS NULL OR k.id IS NULL) AS over
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY AS f(company_id, agent_id, access_token_id, after, n)
LEFT JOIN agents a ON a.company_id = f.company_id AND a.id = f.agent_id AND a.deleted_at IS NULL
LEFT JOIN access_tokens k ON k.company_id = f.company_id AND k.id = f.access_token_id AND k.deleted_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $5::timestamptz)
  AND (k.superuser OR EXISTS (SELECT FROM access_control_list_users m JOIN access_control_lists l ON l.company_id = m.company_id AND l.id = m.access_control_list_id AND l.deleted_at IS NULL
    WHERE m.company_id = k.company_id AND m.user_id = k.user_id AND (l.superuser OR 'agent_messages:read' = ANY(l.permissions))))
WHERE a.id IS NULL OR k.id IS NULL OR a.last_event_id > f.after`;

export function openAgentStreams({
  database,
  clock,
  log,
}: {
  database: Database;
  clock: () => Date;
  log: Logger;
}): AgentStreams {
  const followers = new Map<string, Set<Follower>>();
  const all = () => [...followers.values()].flatMap((each) => [...each]);
  let hearing: AbortController | undefined;
  let closed = false;

  const poll = async () => {
    const asked = all();
    const columns = (['company_id', 'agent_id', 'access_token_id', 'after'] as const).map((name) =>
      asked.map(({ followed }) => String(followed[name])),
    );
    const { rows } = await database.pool.query<{ n: number; over: boolean }>(POLL, [
      ...columns,
      clock().toISOString(),
    ]);
    for (const { n, over } of rows) {
      const follower = asked[n - 1]!;
      follower.over ||= over;
      follower.bell.ring();
    }
  };

  const hear = () => {
    hearing = new AbortController();
    const { signal } = hearing;
    const ringAll = () => all().forEach((follower) => follower.bell.ring());
    const heard = (who: string) => followers.get(who)?.forEach((follower) => follower.bell.ring());
    void listen({
      url: database.url,
      channel: AGENT_CHANNEL,
      heard,
      listening: ringAll,
      stopping: signal,
    });
    // While the database is away there is nothing to tell; streams that read it end by themselves.
    const polling = setInterval(
      () =>
        void poll().catch((error) => log.debug({ err: error }, 'agents could not be looked after')),
      POLL_MS,
    );
    signal.addEventListener('abort', () => clearInterval(polling));
  };

  const leave = (key: string, follower: Follower) => {
    const own = followers.get(key);
    own?.delete(follower);
    if (own?.size === 0) followers.delete(key);
    if (followers.size > 0) return;
    hearing?.abort();
    hearing = undefined;
  };

  return {
    follow: (followed) => {
      const key = `${followed.company_id}/${followed.agent_id}`;
      const own = bell();
      const follower: Follower = {
        followed,
        over: closed,
        bell: own,
        rung: (ms) => own.rung(ms),
        close: () => (leave(key, follower), own.ring()),
      };
      followers.set(key, (followers.get(key) ?? new Set()).add(follower));
      if (!hearing && !closed) hear();
      return follower;
    },
    close: () => {
      closed = true;
      for (const follower of all()) {
        follower.over = true;
        follower.bell.ring();
      }
    },
  };
}
