import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { DELAYS_MS } from './backoff';
import { claimQueues, queueKey, releaseQueue, renewLeases, type Lease } from './lease-queues';
import { serveQueue, type ServedQueue } from './serve-queue';
import { createResultWriter, type ResultWriter } from './write-results';
import type { DeliveryDeps } from './serve-queue';

export interface DeliveryOptions {
  /** Milliseconds between an attempt and the next. */
  delays?: readonly number[];
  /** How long other processes wait before they take over the queues of a silent one. */
  lease_ms?: number;
}

const LEASE_MS = 15_000;
/** Webhooks that one process serves at a time, each with one open request. */
const MAX_QUEUES = 200;
/** Webhooks of one company among these, so that other companies find some free. */
const MAX_PER_COMPANY = MAX_QUEUES / 2;
const MAX_PER_ORIGIN = 10;
/** How long a stop waits for responses. Later ones are lost, and the request is sent again. */
const STOP_TIMEOUT_MS = 4_000;

export interface Deliverer {
  /** Starts to serve queues that are due, and returns whether there were any. */
  begin(): Promise<boolean>;
  renew(): Promise<void>;
  /** Starts nothing new, and waits for the open requests. */
  stop(): Promise<void>;
}

/**
 * Sends the deliveries of webhooks. One process at a time serves a queue, one request after the
 * other, in the order of events.
 */
export const createDeliverer = (deps: DeliveryDeps, options: DeliveryOptions = {}): Deliverer =>
  new QueueDeliverer(deps, options);

class QueueDeliverer implements Deliverer {
  private readonly worker = randomUUID();
  private readonly stopping = new AbortController();
  private readonly served = new Map<string, ServedQueue>();
  private readonly delays: readonly number[];
  private readonly lease_ms: number;
  private readonly writer: ResultWriter;

  constructor(
    private readonly deps: DeliveryDeps,
    { delays = DELAYS_MS, lease_ms = LEASE_MS }: DeliveryOptions,
  ) {
    this.delays = delays;
    this.lease_ms = lease_ms;
    this.writer = createResultWriter(deps, { worker: this.worker, timeout_ms: lease_ms });
  }

  async begin(): Promise<boolean> {
    const max = MAX_QUEUES - this.served.size;
    if (max <= 0 || this.stopping.signal.aborted) return false;
    const { database, clock } = this.deps;
    const origins = countOrigins(this.served.values());
    const leases = await claimQueues(database.sql, {
      worker: this.worker,
      now: clock(),
      until: this.leaseEnd(),
      full: [...origins].filter(([, n]) => n >= MAX_PER_ORIGIN).map(([origin]) => origin),
      served: [...this.served.keys()],
      max,
      company_max: MAX_PER_COMPANY,
    });
    for (const lease of leases) {
      const n = origins.get(lease.origin) ?? 0;
      origins.set(lease.origin, n + 1);
      if (n < MAX_PER_ORIGIN) this.serve(lease);
      else await releaseQueue(database.prepared, lease, { worker: this.worker, now: clock() });
    }
    return leases.some(({ origin }) => (origins.get(origin) ?? 0) <= MAX_PER_ORIGIN);
  }

  async renew(): Promise<void> {
    const { worker, lease_ms } = this;
    const queues = [...this.served.values()].filter(({ is_lost }) => !is_lost);
    if (queues.length === 0) return;
    const askedMs = performance.now();
    const until = this.leaseEnd();
    const renewed = await renewLeases(this.deps.database.sql, queues, { worker, until });
    for (const queue of queues) {
      if (renewed.has(queueKey(queue))) queue.until_ms = askedMs + lease_ms;
      else queue.is_lost = true;
    }
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    const finish = async () => {
      await Promise.all([...this.served.values()].map(({ done }) => done));
      await this.writer.flush();
    };
    await Promise.race([finish(), setTimeout(STOP_TIMEOUT_MS, undefined, { ref: false })]);
  }

  private leaseEnd(): Date {
    return new Date(this.deps.clock().getTime() + this.lease_ms);
  }

  private serve(lease: Lease): void {
    const { deps, writer, worker, delays, served, stopping } = this;
    const { outgoing_webhook_id, origin } = lease;
    const queue: ServedQueue = {
      ...lease,
      until_ms: performance.now() + this.lease_ms,
      is_lost: false,
      done: Promise.resolve(),
    };
    served.set(queueKey(lease), queue);
    const isCrowded = () =>
      served.size >= MAX_QUEUES ||
      (countOrigins(served.values()).get(origin) ?? 0) >= MAX_PER_ORIGIN;
    const context = { deps, writer, worker, delays, isCrowded, stopping: stopping.signal };
    queue.done = serveQueue(queue, context)
      .catch((error: unknown) =>
        deps.log.warn(
          { err: error, outgoing_webhook_id },
          'could not serve a webhook; it is tried again',
        ),
      )
      .finally(() => void served.delete(queueKey(lease)));
  }
}

function countOrigins(queues: Iterable<Lease>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { origin } of queues) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  return counts;
}
