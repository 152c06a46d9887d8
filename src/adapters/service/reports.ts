import type { Logger } from 'pino';
import type { Journal, Pending } from './journal';
import { Refused, type Service } from './service';
import { pause } from '../../platform/pause';

// Requests that the service must get: events of calls and results of commands, each until it has an
// answer, those of one call in their order.

/** A request to a service that is there takes far less. */
const TIMEOUT_MS = 3_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [500, 5_000];

export interface Outcome {
  answered(answer: unknown): void;
  /** It will not be accepted. */
  refused(error: Refused): void;
  /** There is no answer yet: it is sent again until there is. */
  unreachable(): void;
}

const IGNORED: Outcome = {
  answered: () => undefined,
  refused: () => undefined,
  unreachable: () => undefined,
};

interface Item {
  pending: Pending;
  outcome: Outcome;
  /** In the journal, once it has failed. */
  journaled?: number;
}

interface Edges {
  service: Pick<Service, 'post'>;
  journal: Journal;
  log: Logger;
  signal: AbortSignal;
}

export interface Reports {
  /** Outcomes that are not named change nothing. */
  send(pending: Pending, outcome?: Partial<Outcome>): void;
  /** Ends when nothing waits any more. */
  settle(): Promise<void>;
}

export function openReports(edges: Edges): Reports {
  const queues = new Map<string, Item[]>();
  const running = new Set<Promise<void>>();
  const add = (item: Item) => {
    const { of } = item.pending;
    const queue = queues.get(of);
    if (queue) {
      // The one before it has no answer either.
      if (queue[0]!.journaled !== undefined) fail(item, edges);
      queue.push(item);
      return;
    }
    const started = [item];
    queues.set(of, started);
    const run = drain(started, edges, () => queues.delete(of)).then(() => {
      running.delete(run);
    });
    running.add(run);
  };
  for (const [journaled, pending] of edges.journal.left)
    add({ pending, journaled, outcome: IGNORED });
  return {
    send: (pending, outcome) => add({ pending, outcome: { ...IGNORED, ...outcome } }),
    settle: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/**
 * Sends what is in the queue, the first until it is answered. Ends early with the process. `close`
 * is called in the very moment in which nothing is left: what comes after it needs a new queue.
 */
async function drain(queue: Item[], edges: Edges, close: () => void): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  while (queue.length > 0) {
    if (edges.signal.aborted) {
      // The next process sends them.
      for (const item of queue) keep(item, edges);
      return close();
    }
    if (await trySending(queue[0]!, edges)) {
      queue.shift();
      pauseMs = FIRST_PAUSE_MS;
      continue;
    }
    for (const item of queue) fail(item, edges);
    await pause(pauseMs, edges.signal);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
  close();
}

/** Returns false if there is no answer. */
async function trySending(item: Item, { service, journal, log, signal }: Edges): Promise<boolean> {
  const { path, body } = item.pending;
  let answer: unknown;
  try {
    answer = await service.post(path, body, { timeout_ms: TIMEOUT_MS, signal });
  } catch (error) {
    if (!(error instanceof Refused)) {
      log.warn({ err: error, path }, 'no answer to a report: it is sent again');
      return false;
    }
    log.warn({ path, status: error.status, reason: error.message }, 'a report was refused');
    forget(item, journal);
    item.outcome.refused(error);
    return true;
  }
  forget(item, journal);
  item.outcome.answered(answer);
  return true;
}

function forget({ journaled }: Item, journal: Journal): void {
  if (journaled !== undefined) journal.remove(journaled);
}

function keep(item: Item, { journal }: Edges): boolean {
  if (item.journaled !== undefined) return false;
  item.journaled = journal.add(item.pending);
  return true;
}

function fail(item: Item, edges: Edges): void {
  if (keep(item, edges)) item.outcome.unreachable();
}
