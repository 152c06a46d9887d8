import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { endQueue } from './queries/queues';
import {
  claimQueues,
  dueDeliveries,
  letGoOfQueue,
  queueKey,
  renewLeases,
  type DueDelivery,
  type Lease,
} from './queries/queue-leases';
import type { Deps } from '../deps';
import { uuidv7 } from '../db/uuid';
import { attempt } from './attempt';
import { DELAYS_MS } from './backoff';
import { keysAt } from '../egress/standard-webhooks';
import { resultWriter, type ResultWriter } from './write-results';

export type DeliveryDeps = Pick<
  Deps,
  'database' | 'tenants' | 'queue' | 'request' | 'pepper' | 'clock' | 'log'
>;

export interface DeliveryOptions {
  /** Between an attempt and the next. */
  delays?: readonly number[];
  /** How long another process waits before it takes over what a silent one has. */
  lease_ms?: number;
}

const LEASE_MS = 15_000;
/** Webhooks that one process serves at a time, each with one request in flight. */
const MOST_QUEUES = 200;
/** Of these to one receiver. */
const MOST_PER_ORIGIN = 10;
/** After which a webhook lets others that wait have its place. */
const TURN_MS = 5_000;
const BATCH = 250;
/** Results that may wait to be written before no more is sent. */
const MOST_UNWRITTEN = 1_000;
/** How long a stop waits for answers: what is not heard by then is sent again by whoever goes on. */
const FAREWELL_MS = 4_000;

interface Served extends Lease {
  /** Until when, by the clock of this process. */
  until_ms: number;
  /** It was taken over, paused or deleted. */
  over: boolean;
  done: Promise<void>;
}

export interface Deliverer {
  /** Begins to serve webhooks that have something to send; answers whether there were any. */
  begin(): Promise<boolean>;
  /** Holds on to those that are served. */
  renew(): Promise<void>;
  /** Begins nothing more, and waits for what is in flight. */
  stop(): Promise<void>;
}

/** Sends what webhooks have to send: each by one process at a time, in the order of its events, one request after the other. */
export function deliverer(
  deps: DeliveryDeps,
  { delays = DELAYS_MS, lease_ms = LEASE_MS }: DeliveryOptions = {},
): Deliverer {
  const { database, clock, log } = deps;
  const worker = randomUUID();
  const writer = resultWriter(deps, { worker, patience_ms: lease_ms });
  const stopping = new AbortController();
  const served = new Map<string, Served>();
  const until = () => new Date(clock().getTime() + lease_ms);

  const serve = (lease: Lease) => {
    const key = queueKey(lease);
    const queue: Served = {
      ...lease,
      until_ms: performance.now() + lease_ms,
      over: false,
      done: Promise.resolve(),
    };
    served.set(key, queue);
    const isCrowded = () =>
      served.size >= MOST_QUEUES ||
      (countBy([...served.values()]).get(lease.origin) ?? 0) >= MOST_PER_ORIGIN;
    queue.done = serveQueue(queue, {
      deps,
      writer,
      worker,
      delays,
      isCrowded,
      stopping: stopping.signal,
    })
      .catch((error: unknown) =>
        log.warn(
          { err: error, outgoing_webhook_id: lease.outgoing_webhook_id },
          'a webhook could not be served: tried again',
        ),
      )
      .finally(() => void served.delete(key));
  };

  return {
    begin: async () => {
      const most = MOST_QUEUES - served.size;
      if (most <= 0 || stopping.signal.aborted) return false;
      const origins = countBy([...served.values()]);
      const full = [...origins].filter(([, n]) => n >= MOST_PER_ORIGIN).map(([origin]) => origin);
      const leases = await claimQueues(database.prepared, {
        worker,
        now: clock(),
        until: until(),
        full,
        served: [...served.keys()],
        most,
      });
      for (const lease of leases) {
        const n = origins.get(lease.origin) ?? 0;
        origins.set(lease.origin, n + 1);
        if (n < MOST_PER_ORIGIN) serve(lease);
        else await letGoOfQueue(database.prepared, lease, { worker, now: clock() });
      }
      return leases.some(({ origin }) => (origins.get(origin) ?? 0) <= MOST_PER_ORIGIN);
    },

    renew: async () => {
      const all = [...served.values()].filter(({ over }) => !over);
      if (all.length === 0) return;
      const asked_ms = performance.now();
      const kept = await renewLeases(database.prepared, all, { worker, until: until() });
      for (const queue of all) {
        if (kept.has(queueKey(queue))) queue.until_ms = asked_ms + lease_ms;
        else queue.over = true;
      }
    },

    stop: async () => {
      stopping.abort();
      const all = Promise.all([...served.values()].map(({ done }) => done)).then(() =>
        writer.flushed(),
      );
      await Promise.race([all, setTimeout(FAREWELL_MS, undefined, { ref: false })]);
    },
  };
}

function countBy(queues: readonly Lease[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { origin } of queues) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  return counts;
}

interface Serving {
  deps: DeliveryDeps;
  writer: ResultWriter;
  worker: string;
  delays: readonly number[];
  /** Whether others may be waiting for its place. */
  isCrowded: () => boolean;
  stopping: AbortSignal;
}

async function serveQueue(queue: Served, serving: Serving): Promise<void> {
  const { deps, writer, worker } = serving;
  const { database, clock } = deps;
  const turn_until = performance.now() + TURN_MS;
  const isLost = () => queue.over || performance.now() > queue.until_ms;
  const isOver = () =>
    serving.stopping.aborted || isLost() || (performance.now() > turn_until && serving.isCrowded());
  let gone = false;
  let after = '0';
  const look = (sending: readonly DueDelivery[]) =>
    dueDeliveries(database.prepared, queue, {
      now: clock(),
      sent: [...writer.unwritten(), ...sending.map(({ id }) => id)],
      after,
      most: BATCH,
    });
  let due: DueDelivery[] = [];
  while (!gone && !isOver()) {
    if (due.length === 0) due = await look([]);
    if (due.length === 0) break;
    after = due.findLast(({ attempts }) => attempts === 0)?.id ?? after;
    // What comes next is looked for while this is sent.
    const [is_gone, next] = await Promise.all([
      sendAll(queue, due, { ...serving, isOver }),
      look(due),
    ]);
    [gone, due] = [is_gone, next];
  }
  await writer.flushed();
  if (gone) await pause(queue, deps);
  await letGoOfQueue(database.prepared, queue, { worker, now: clock() });
}

/** Answers whether the receiver wants no more. */
async function sendAll(
  queue: Served,
  due: readonly DueDelivery[],
  { deps, writer, delays, isOver }: Serving & { isOver: () => boolean },
): Promise<boolean> {
  const { request, pepper, clock } = deps;
  const keys = keysAt(pepper, queue, clock());
  for (const delivery of due) {
    if (isOver()) return false;
    const { result, gone } = await attempt(queue, delivery, {
      request,
      keys,
      delays,
      clock,
      random: Math.random,
    });
    writer.add({ ...result, uuid: uuidv7() });
    if (gone) return true;
    if (writer.count() > MOST_UNWRITTEN) await writer.flushed();
  }
  return false;
}

const GONE =
  'The receiver answered 410 Gone: it wants no more. Unpause the webhook to go on with what waits.';

async function pause(
  { company_id, outgoing_webhook_id }: Lease,
  { tenants, queue, clock }: DeliveryDeps,
): Promise<void> {
  await tenants.of(BigInt(company_id)).statements(async (tx) => {
    const paused = await tx.query({
      text: 'UPDATE outgoing_webhooks SET paused = true, paused_reason = $3, updated_at = $4::timestamptz WHERE company_id = $1 AND id = $2 AND NOT paused AND deleted_at IS NULL RETURNING id',
      values: [company_id, outgoing_webhook_id, GONE, clock().toISOString()],
    });
    if (paused.length === 0) return;
    await endQueue(tx, outgoing_webhook_id);
    await queue.add(tx, 'tell_of_webhook', { company_id, outgoing_webhook_id, news: 'paused' });
  });
}
