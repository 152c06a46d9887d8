import type { Logger } from 'pino';
import type { Database } from '../../data/client';
import { createWakeSignal, type WakeSignal } from '../../data/notifications';
import type { Caller } from '../../api/auth/caller';
import { unchangedRights } from '../../api/auth/unchanged-rights';
import type { Position } from './position';
import { LOOK_FOR_NEWS } from './queries/events';
import { pause } from '../../platform/pause';

// Wakes the streams of companies' events. Code that records events does not notify them: a process
// with open streams looks once a second, in one statement for all its companies.

const LOOK_MS = 1_000;

export interface FollowRequest {
  caller: Caller;
  position: Position;
}

export interface CompanyFollower {
  /** The stream must end: its credentials changed, or the process is stopping. */
  readonly over: boolean;
  /** The position up to which there is something to read. */
  readonly latest: Position;
  /** Waits until there is something new, or the stream must end; at most `ms`. */
  wait(ms: number): Promise<void>;
  close(): void;
}

interface Follower extends CompanyFollower {
  caller: Caller;
  over: boolean;
  bell: WakeSignal;
}

interface WatchedCompany {
  company_id: bigint;
  followers: Set<Follower>;
  latest: Position;
  /** Earlier looks, as far as they are needed. */
  earlierLooks: Omit<Look, 'horizon'>[];
}

interface Look {
  /** Everything that transactions before this one have written was there. */
  horizon: bigint;
  /** The first transaction that had not begun. */
  newest: bigint;
  /** The highest ids of events of calls, and of logs of leads. */
  calls_after: bigint;
  leads_after: bigint;
}

interface StreamDeps {
  database: Database;
  clock: () => Date;
  log: Logger;
}

export class CompanyStreams {
  private readonly watched = new Map<bigint, WatchedCompany>();
  /** Ends the loop that looks; undefined while nothing is followed. */
  private looking: AbortController | undefined;
  private closed = false;

  constructor(private readonly deps: StreamDeps) {}

  follow({ caller, position }: FollowRequest): CompanyFollower {
    const { company_id } = caller;
    const watched = this.watch(company_id, position);
    const ownBell = createWakeSignal();
    const follower: Follower = {
      caller,
      over: this.closed,
      get latest() {
        return watched.latest;
      },
      bell: ownBell,
      wait: (ms) => ownBell.wait(ms),
      close: () => {
        watched.followers.delete(follower);
        if (watched.followers.size === 0) this.watched.delete(company_id);
        if (this.watched.size === 0) this.looking?.abort();
        ownBell.notify();
      },
    };
    watched.followers.add(follower);
    if (!this.closed && (this.looking === undefined || this.looking.signal.aborted)) {
      this.looking = new AbortController();
      void this.look(this.looking.signal);
    }
    return follower;
  }

  close(): void {
    this.closed = true;
    for (const { followers } of this.watched.values())
      for (const follower of followers) end(follower);
    this.looking?.abort();
  }

  private watch(companyId: bigint, position: Position): WatchedCompany {
    const existing = this.watched.get(companyId);
    // Positions of another database server cannot be compared.
    if (existing?.latest.server === position.server) return existing;
    for (const follower of existing?.followers ?? []) end(follower);
    const created: WatchedCompany = {
      company_id: companyId,
      followers: new Set(),
      latest: position,
      earlierLooks: [],
    };
    this.watched.set(companyId, created);
    return created;
  }

  private async look(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      // A look that fails is not an error: streams that read a database that is down end.
      await this.lookOnce().catch((error: unknown) =>
        this.deps.log.debug({ err: error }, 'could not look for events of companies'),
      );
      await pause(LOOK_MS, stopping);
    }
  }

  private async lookOnce(): Promise<void> {
    const { database, clock } = this.deps;
    const all = [...this.watched.values()];
    const rows = await database.sql(LOOK_FOR_NEWS, {
      company_ids: all.map(({ company_id }) => String(company_id)),
      horizons: all.map(({ latest }) => String(latest.horizon)),
      calls_after: all.map(({ latest }) => String(latest.calls_after)),
      leads_after: all.map(({ latest }) => String(latest.leads_after)),
    });
    for (const row of rows) {
      const watched = all[row.n - 1]!;
      if (row.server !== watched.latest.server) {
        watched.followers.forEach(end);
        continue;
      }
      advance(watched, {
        horizon: BigInt(row.horizon!),
        newest: BigInt(row.newest!),
        calls_after: BigInt(row.last_call_event!),
        leads_after: BigInt(row.last_lead_log!),
      });
      if (!row.has_news) continue;
      for (const follower of watched.followers) follower.bell.notify();
    }
    const followers = all.flatMap((watched) => [...watched.followers]);
    const unchanged = await unchangedRights(
      database.sql,
      followers.map(({ caller }) => caller),
      clock(),
    );
    for (const follower of followers) if (!unchanged.has(follower.caller)) end(follower);
  }
}

/**
 * Moves the position up to which streams may read, by the result of a look. Transactions from its
 * horizon on began after an earlier look, and so their rows have higher ids than that look saw. The
 * look before that one is used, since a row gets its id shortly before its transaction gets one.
 */
function advance(watched: WatchedCompany, { horizon, ...look }: Look): void {
  const { earlierLooks, latest } = watched;
  earlierLooks.push(look);
  while (earlierLooks.length > 2 && earlierLooks[2]!.newest <= horizon) earlierLooks.shift();
  const [earliest, second] = earlierLooks;
  const { calls_after, leads_after } = second && second.newest <= horizon ? earliest! : latest;
  watched.latest = { server: latest.server, horizon, calls_after, leads_after };
}

function end(follower: Follower): void {
  follower.over = true;
  follower.bell.notify();
}
