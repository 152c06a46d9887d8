import type { Logger } from 'pino';
import type { Database } from '../../data/client';
import { createWakeSignal, listen, type WakeSignal } from '../../data/notifications';
import { FIND_STREAMS_TO_WAKE } from './queries/streams';

// Wakes the event streams of this process. One connection listens for all of them; a poll every two
// seconds finds events whose notification was lost, and streams that must end.

/** The channel on which `<company>/<agent>` is sent when an agent gets an event. */
export const AGENT_CHANNEL = 'trunkline_agents';

/**
 * An event waits at most this long after a lost notification, and a stream outlives its token at
 * most this long.
 */
const POLL_MS = 2_000;

export interface FollowedAgent {
  company_id: bigint;
  agent_id: bigint;
  access_token_id: bigint;
  /** The last event that was sent; the reader of the stream updates it. */
  after: string;
}

export interface StreamSubscription {
  /**
   * True when the stream must end: its credentials were revoked or may no longer read messages, the
   * agent is deleted, or the process is stopping.
   */
  readonly over: boolean;
  /** Resolves when there may be something new, when the stream must end, or after `ms`. */
  wait(ms: number): Promise<void>;
  close(): void;
}

export interface AgentStreams {
  follow(followed: FollowedAgent): StreamSubscription;
  /** Ends all streams, and those that are opened later at once. */
  close(): void;
}

interface Follower extends StreamSubscription {
  followed: FollowedAgent;
  over: boolean;
  bell: WakeSignal;
}

interface StreamDeps {
  database: Database;
  clock: () => Date;
  log: Logger;
}

export const openAgentStreams = (deps: StreamDeps): AgentStreams => new Streams(deps);

class Streams implements AgentStreams {
  /** Keys are `<company>/<agent>`. */
  private readonly followers = new Map<string, Set<Follower>>();
  /** Ends the listening connection and the polls; undefined while nothing is followed. */
  private listening: AbortController | undefined;
  private closed = false;

  constructor(private readonly deps: StreamDeps) {}

  follow(followed: FollowedAgent): StreamSubscription {
    const key = `${followed.company_id}/${followed.agent_id}`;
    const signal = createWakeSignal();
    const follower: Follower = {
      followed,
      over: this.closed,
      bell: signal,
      wait: (ms) => signal.wait(ms),
      close: () => {
        this.leave(key, follower);
        signal.notify();
      },
    };
    this.followers.set(key, (this.followers.get(key) ?? new Set()).add(follower));
    if (!this.listening && !this.closed) this.listen();
    return follower;
  }

  close(): void {
    this.closed = true;
    for (const follower of this.all()) {
      follower.over = true;
      follower.bell.notify();
    }
  }

  private all(): Follower[] {
    return [...this.followers.values()].flatMap((group) => [...group]);
  }

  private leave(key: string, follower: Follower): void {
    const followers = this.followers.get(key);
    followers?.delete(follower);
    if (followers?.size === 0) this.followers.delete(key);
    if (this.followers.size > 0) return;
    this.listening?.abort();
    this.listening = undefined;
  }

  private listen(): void {
    this.listening = new AbortController();
    const { signal } = this.listening;
    const { database, log } = this.deps;
    void listen({
      url: database.session_url,
      channel: AGENT_CHANNEL,
      onNotification: (key) =>
        this.followers.get(key)?.forEach(({ bell: wakeSignal }) => wakeSignal.notify()),
      onListening: () => this.all().forEach(({ bell: wakeSignal }) => wakeSignal.notify()),
      stopping: signal,
    });
    // A failed poll is not an error: streams that read a database that is down end by themselves.
    const onError = (error: unknown) => log.debug({ err: error }, 'could not poll agent streams');
    const polling = setInterval(() => void this.poll().catch(onError), POLL_MS);
    signal.addEventListener('abort', () => clearInterval(polling));
  }

  private async poll(): Promise<void> {
    const polled = this.all();
    const column = (name: keyof FollowedAgent) =>
      polled.map(({ followed }) => String(followed[name]));
    const rows = await this.deps.database.sql(FIND_STREAMS_TO_WAKE, {
      company_ids: column('company_id'),
      agent_ids: column('agent_id'),
      access_token_ids: column('access_token_id'),
      positions: column('after'),
      now: this.deps.clock().toISOString(),
    });
    for (const { n, must_end } of rows) {
      const follower = polled[n - 1]!;
      follower.over ||= must_end;
      follower.bell.notify();
    }
  }
}
