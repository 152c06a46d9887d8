import type { Logger } from 'pino';
import type { Database } from './client';
import { createWakeSignal, listen, type WakeSignal } from './notifications';

// Wakes the long requests of this process that wait for rows of one kind. One connection listens
// for all of them; a poll finds rows whose notification was lost, and requests that must end.

export interface Subscription {
  /** True when the request must end: it may no longer read, or the process is stopping. */
  readonly over: boolean;
  /** Resolves when there may be something new, when the request must end, or after `ms`. */
  wait(ms: number): Promise<void>;
  close(): void;
}

export interface Followers<Followed> {
  follow(followed: Followed): Subscription;
  /** Ends all requests, and those that are opened later at once. */
  close(): void;
}

interface FollowersOptions<Followed> {
  database: Database;
  log: Logger;
  /** The channel of PostgreSQL on which the key of what has news is sent. */
  channel: string;
  toKey(followed: Followed): string;
  /** Requests that have news or must end; `n` is their position in the list, from 1. */
  findToWake(followed: readonly Followed[]): Promise<{ n: number; must_end: boolean }[]>;
}

/**
 * A row waits at most this long after a lost notification, and a request outlives its credentials
 * at most this long.
 */
const POLL_MS = 2_000;

interface Follower<Followed> extends Subscription {
  followed: Followed;
  over: boolean;
  signal: WakeSignal;
}

export const openFollowers = <Followed>(options: FollowersOptions<Followed>): Followers<Followed> =>
  new ListeningFollowers(options);

class ListeningFollowers<Followed> implements Followers<Followed> {
  private readonly byKey = new Map<string, Set<Follower<Followed>>>();
  /** Ends the listening connection and the polls; undefined while nothing is followed. */
  private listening: AbortController | undefined;
  private closed = false;

  constructor(private readonly options: FollowersOptions<Followed>) {}

  follow(followed: Followed): Subscription {
    const key = this.options.toKey(followed);
    const signal = createWakeSignal();
    const follower: Follower<Followed> = {
      followed,
      over: this.closed,
      signal,
      wait: (ms) => signal.wait(ms),
      close: () => {
        this.leave(key, follower);
        signal.notify();
      },
    };
    this.byKey.set(key, (this.byKey.get(key) ?? new Set()).add(follower));
    if (!this.listening && !this.closed) this.listen();
    return follower;
  }

  close(): void {
    this.closed = true;
    for (const follower of this.all()) {
      follower.over = true;
      follower.signal.notify();
    }
  }

  private all(): Follower<Followed>[] {
    return [...this.byKey.values()].flatMap((group) => [...group]);
  }

  private leave(key: string, follower: Follower<Followed>): void {
    const followers = this.byKey.get(key);
    followers?.delete(follower);
    if (followers?.size === 0) this.byKey.delete(key);
    if (this.byKey.size > 0) return;
    this.listening?.abort();
    this.listening = undefined;
  }

  private listen(): void {
    this.listening = new AbortController();
    const { signal: stopping } = this.listening;
    const { database, log, channel } = this.options;
    void listen({
      url: database.session_url,
      channel,
      onNotification: (key) => this.byKey.get(key)?.forEach(({ signal }) => signal.notify()),
      onListening: () => this.all().forEach(({ signal }) => signal.notify()),
      stopping,
    });
    // A failed poll is not an error: requests that read a database that is down end by themselves.
    const onError = (error: unknown) => log.debug({ err: error, channel }, 'could not poll');
    const polling = setInterval(() => void this.poll().catch(onError), POLL_MS);
    stopping.addEventListener('abort', () => clearInterval(polling));
  }

  private async poll(): Promise<void> {
    const polled = this.all();
    const rows = await this.options.findToWake(polled.map(({ followed }) => followed));
    for (const { n, must_end } of rows) {
      const follower = polled[n - 1]!;
      follower.over ||= must_end;
      follower.signal.notify();
    }
  }
}

/** A request without new rows says so this often. */
const HEARTBEAT_MS = 15_000;

interface Reading<Row> {
  /** Called before the first read, so that no row between the two is missed. */
  follow: () => Subscription;
  /** The rows after those that were read, at most `max_rows`. */
  read: () => Promise<Row[]>;
  max_rows: number;
  wait_ms: number;
  reader_gone: AbortSignal;
}

/**
 * Yields rows as they come, first the existing ones, until `wait_ms` have passed, the reader is
 * gone, or the request must end. An empty list is a heartbeat.
 */
export async function* readFollowed<Row>({
  follow,
  read,
  max_rows,
  wait_ms,
  reader_gone,
}: Reading<Row>): AsyncGenerator<Row[]> {
  const until = performance.now() + wait_ms;
  const following = wait_ms > 0 ? follow() : undefined;
  const stop = () => following?.close();
  reader_gone.addEventListener('abort', stop);
  try {
    while (!reader_gone.aborted) {
      const rows = await read();
      if (rows.length > 0) yield rows;
      if (rows.length === max_rows) continue;
      const left = until - performance.now();
      if (!following || following.over || left <= 0) return;
      await following.wait(Math.min(HEARTBEAT_MS, left));
      if (rows.length === 0) yield [];
    }
  } finally {
    reader_gone.removeEventListener('abort', stop);
    stop();
  }
}
