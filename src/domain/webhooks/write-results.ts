import { setTimeout } from 'node:timers/promises';
import { sqlOn } from '../../data/sql';
import { buildCompanyStatements } from '../../data/tenant';
import { runInTransaction } from '../../data/transaction';
import type { Deps } from '../deps';
import { queueDeadAlert } from './alert-owner';
import { queueKey } from './lease-queues';
import { WRITE_RESULTS } from './queries/results';

type Context = Pick<Deps, 'config' | 'database' | 'queue' | 'clock' | 'log'>;

export interface Result {
  company_id: string;
  outgoing_webhook_id: string;
  delivery_id: string;
  /** The uuid of the log. */
  uuid: string;
  attempt: number;
  started_at: string;
  /** Milliseconds. */
  duration: number;
  code: number | null;
  success: boolean;
  notes: string | null;
  request_headers: Record<string, string>;
  response_headers: Record<string, string> | null;
  response_body: string | null;
  status: 'waiting' | 'delivered' | 'dead';
  due_at: string | null;
}

/** This many results are written at once, without waiting for more. */
const FULL_BATCH = 250;
const MAX_BATCH = 500;
/** How long a batch waits for more results. */
const WAIT_MS = 100;
const RETRY_MS = 500;

/** Writes results in batches while further requests are sent. */
export interface ResultWriter {
  add(result: Result): void;
  listUnwritten(): string[];
  count(): number;
  /** Waits until every added result is written or given up. */
  flush(): Promise<void>;
}

interface WaitingResult {
  result: Result;
  /** Unix time in ms. */
  until: number;
}

/** A result that could not be written within `timeout_ms`, the time of the lease, is given up. */
export function createResultWriter(
  context: Context,
  { worker, timeout_ms }: { worker: string; timeout_ms: number },
): ResultWriter {
  let waiting: WaitingResult[] = [];
  let writing: WaitingResult[] = [];
  let running: Promise<void> | undefined;
  let pause: AbortController | undefined;

  const run = async () => {
    while (waiting.length > 0) {
      pause = new AbortController();
      if (waiting.length < FULL_BATCH)
        await setTimeout(WAIT_MS, undefined, { signal: pause.signal }).catch(() => undefined);
      writing = waiting.splice(0, MAX_BATCH);
      const results = writing.map(({ result }) => result);
      try {
        await write(context, worker, results);
      } catch (error) {
        context.log.warn({ err: error }, 'could not write results of webhooks; it is tried again');
        // After the lease, another process has sent the delivery again.
        waiting = [...writing.filter(({ until }) => until > Date.now()), ...waiting];
        await setTimeout(RETRY_MS);
      }
      writing = [];
    }
    running = undefined;
  };

  return {
    add: (result) => {
      waiting.push({ result, until: Date.now() + timeout_ms });
      if (waiting.length >= FULL_BATCH) pause?.abort();
      running ??= run();
    },
    listUnwritten: () => [...writing, ...waiting].map(({ result }) => result.delivery_id),
    count: () => writing.length + waiting.length,
    flush: async () => {
      while (running) {
        pause?.abort();
        await running;
      }
    },
  };
}

/** Writes results, and queues the alerts about dead deliveries in the same transaction. */
async function write(context: Context, worker: string, results: readonly Result[]): Promise<void> {
  const { database } = context;
  const rows = JSON.stringify(results.map((result, n) => ({ ...result, n })));
  await runInTransaction(database.prepared, async (client) => {
    const sql = sqlOn(client);
    const writtenResults = await sql(WRITE_RESULTS, { worker, rows });
    const dead = writtenResults.filter(({ status }) => status === 'dead');
    const byQueue = new Map(dead.map((result) => [queueKey(result), result]));
    for (const key of [...byQueue.keys()].toSorted()) {
      const { company_id, outgoing_webhook_id } = byQueue.get(key)!;
      const db = buildCompanyStatements(database, BigInt(company_id), client);
      await queueDeadAlert(db, outgoing_webhook_id, context);
    }
  });
}
