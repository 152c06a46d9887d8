import { setTimeout } from 'node:timers/promises';
import { isToBeAlerted, writeResults, type Result } from './queries/queue-leases';
import { inTransaction } from '../db/transaction';
import type { Deps } from '../deps';

type Context = Pick<Deps, 'database' | 'queue' | 'clock' | 'log'>;

/** So many do not wait for more to come. */
const ENOUGH = 250;
const MOST = 500;
const EVERY_MS = 100;
const PAUSE_MS = 500;

/** Writes what came of attempts in batches, beside the sending. */
export interface ResultWriter {
  add(result: Result): void;
  /** Deliveries whose results are not written yet. */
  unwritten(): string[];
  /** How many they are. */
  count(): number;
  /** Waits until everything that was added is written, or cannot be any more. */
  flushed(): Promise<void>;
}

export function resultWriter(
  context: Context,
  { worker, patience_ms }: { worker: string; patience_ms: number },
): ResultWriter {
  let waiting: { result: Result; until: number }[] = [];
  let writing: typeof waiting = [];
  let running: Promise<void> | undefined;
  let hurry: AbortController | undefined;

  const run = async () => {
    while (waiting.length > 0) {
      hurry = new AbortController();
      if (waiting.length < ENOUGH)
        await setTimeout(EVERY_MS, undefined, { signal: hurry.signal }).catch(() => undefined);
      writing = waiting.splice(0, MOST);
      try {
        await write(
          context,
          worker,
          writing.map(({ result }) => result),
        );
      } catch (error) {
        context.log.warn({ err: error }, 'what came of webhooks could not be written: tried again');
        // Once the lease is over another process has sent it again.
        waiting = [...writing.filter(({ until }) => until > Date.now()), ...waiting];
        await setTimeout(PAUSE_MS);
      }
      writing = [];
    }
    running = undefined;
  };

  return {
    add: (result) => {
      waiting.push({ result, until: Date.now() + patience_ms });
      if (waiting.length >= ENOUGH) hurry?.abort();
      running ??= run();
    },
    unwritten: () => [...writing, ...waiting].map(({ result }) => result.delivery_id),
    count: () => writing.length + waiting.length,
    flushed: async () => {
      while (running) {
        hurry?.abort();
        await running;
      }
    },
  };
}

/** Whoever is to be told of a dead delivery is told in the same transaction. */
async function write(
  { database, queue, clock }: Context,
  worker: string,
  results: readonly Result[],
): Promise<void> {
  await inTransaction(database.prepared, async (client) => {
    const written = await writeResults(client, worker, results);
    const dead = new Map(
      written
        .filter(({ status }) => status === 'dead')
        .map((each) => [`${each.company_id}/${each.outgoing_webhook_id}`, each]),
    );
    for (const [, { company_id, outgoing_webhook_id }] of [...dead].toSorted(([a], [b]) =>
      a < b ? -1 : 1,
    )) {
      if (
        !(await isToBeAlerted(
          (statement) => client.query(statement),
          { company_id, outgoing_webhook_id },
          clock(),
        ))
      )
        continue;
      const db = {
        query: async <Row>(statement: { text: string; values: unknown[] }) =>
          (await client.query(statement)).rows as Row[],
      };
      await queue.add(db, 'tell_of_webhook', { company_id, outgoing_webhook_id, news: 'dead' });
    }
  });
}
