import { uuidv7 } from '../../data/uuid';
import type { Maker } from '../../data/access/makers';
import { recordRoutingChange } from '../../data/routing-changes';
import { deriveKeys } from '../../platform/egress/standard-webhooks';
import { webhookAttempts } from '../../platform/telemetry/metrics';
import { queueAlert } from './alert-owner';
import { attempt } from './attempt';
import { findDueDeliveries, type DueDelivery } from './find-deliveries';
import { releaseQueue, type Lease, type LeasedQueue } from './lease-queues';
import { findActingWebhooks } from './mask-events';
import { PAUSE_WEBHOOK } from './queries/webhooks';
import { closeQueue } from './queues';
import type { ResultWriter } from './write-results';
import type { Deps } from '../deps';

export type DeliveryDeps = Pick<
  Deps,
  'config' | 'database' | 'tenants' | 'queue' | 'request' | 'pepper' | 'clock' | 'log'
>;

/** After this time, a queue gives way to others that wait. */
const MAX_SERVED_MS = 5_000;
const BATCH = 250;
/** Sending waits for the writer when more results than this are unwritten. */
const MAX_UNWRITTEN = 1_000;
const PAUSED_REASON =
  'The receiver answered 410 Gone: it wants no more events. Unpause the webhook to send the ' +
  'deliveries that wait.';

const MAKER_REASON =
  'The user who made it or last changed it no longer sees the record whose events are sent.';

export interface ServedQueue extends Lease {
  /** End of the lease, by performance.now(). */
  until_ms: number;
  /** The queue was taken over, paused or deleted. */
  is_lost: boolean;
  done: Promise<void>;
}

interface ServeContext {
  deps: DeliveryDeps;
  writer: ResultWriter;
  worker: string;
  delays: readonly number[];
  isCrowded: () => boolean;
  stopping: AbortSignal;
}

/** Sends the deliveries of a leased queue until none is due, then releases it. */
export async function serveQueue(queue: ServedQueue, context: ServeContext): Promise<void> {
  const { deps, writer, worker, isCrowded, stopping } = context;
  const { database, clock } = deps;
  const crowdedMs = performance.now() + MAX_SERVED_MS;
  const isLost = () => queue.is_lost || performance.now() > queue.until_ms;
  const isOver = () =>
    stopping.aborted || isLost() || (performance.now() > crowdedMs && isCrowded());
  let after = '0';
  const find = (sending: readonly DueDelivery[]) =>
    findDueDeliveries(database.sql, queue, {
      now: clock(),
      unwritten_ids: [...writer.listUnwritten(), ...sending.map(({ id }) => id)],
      after,
      max: BATCH,
    });
  let isGone = false;
  let isActing = true;
  let due: DueDelivery[] = [];
  while (!isGone && !isOver()) {
    if (due.length === 0) due = await find([]);
    if (due.length === 0) break;
    isActing = await hasMakerAccess(queue, deps);
    if (!isActing) break;
    after = due.findLast(({ attempts }) => attempts === 0)?.id ?? after;
    // The next batch is read while this one is sent.
    [isGone, due] = await Promise.all([sendAll(queue, due, { ...context, isOver }), find(due)]);
  }
  await writer.flush();
  if (isGone) await pauseWebhook(queue, deps, { reason: PAUSED_REASON, news: 'paused' });
  else if (!isActing) await pauseWebhook(queue, deps, { reason: MAKER_REASON });
  await releaseQueue(database.prepared, queue, { worker, now: clock() });
}

/** The webhook may still send: its maker may have lost access while deliveries waited. */
async function hasMakerAccess(
  queue: LeasedQueue & Maker,
  { tenants }: DeliveryDeps,
): Promise<boolean> {
  if (queue.maker_user_id === null) return true;
  const id = queue.outgoing_webhook_id;
  const db = tenants.of(BigInt(queue.company_id));
  return (await findActingWebhooks(db, queue, [id])).has(id);
}

/** Sends deliveries one after the other; returns true when the receiver wants no more events. */
async function sendAll(
  queue: ServedQueue,
  due: readonly DueDelivery[],
  { deps, writer, delays, isOver }: ServeContext & { isOver: () => boolean },
): Promise<boolean> {
  const { request, pepper, clock } = deps;
  const context = {
    request,
    keys: deriveKeys(pepper, queue, clock()),
    delays,
    clock,
    random: Math.random,
  };
  for (const delivery of due) {
    if (isOver()) return false;
    const { result, is_gone } = await attempt(queue, delivery, context);
    webhookAttempts.observe({ result: result.status }, result.duration / 1000);
    writer.add({ ...result, uuid: uuidv7() });
    if (is_gone) return true;
    if (writer.count() > MAX_UNWRITTEN) await writer.flush();
  }
  return false;
}

async function pauseWebhook(
  { company_id, outgoing_webhook_id: id }: LeasedQueue,
  deps: DeliveryDeps,
  { reason, news }: { reason: string; news?: 'paused' },
): Promise<void> {
  const { tenants, clock } = deps;
  await tenants.of(BigInt(company_id)).statements(async (tx) => {
    const now = clock().toISOString();
    const paused = await tx.sql(PAUSE_WEBHOOK, { id, reason, now });
    if (paused.length === 0) return;
    recordRoutingChange(tx);
    await closeQueue(tx, id);
    if (news) await queueAlert(tx, { outgoing_webhook_id: id, news }, deps);
  });
}
