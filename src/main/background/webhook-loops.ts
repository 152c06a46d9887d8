import { repeat, type Running } from '../../data/jobs/loop';
import { createDeliverer, type DeliveryOptions } from '../../domain/webhooks/deliver';
import { type DeliveryDeps } from '../../domain/webhooks/serve-queue';
import { fanOutWebhookEvents } from '../../domain/webhooks/fan-out-events';

const EVERY_MS = 250;
const RENEW_MS = 3_000;
const PAUSE_MS = 2_000;

/** Delivers webhook events, until it is stopped. Any number of processes may do so. */
export function startWebhooks(deps: DeliveryDeps, options: DeliveryOptions = {}): Running {
  const { log, database } = deps;
  const { sql } = database;
  const deliveries = createDeliverer(deps, options);
  const delivering = repeat(log, {
    sql,
    every_ms: EVERY_MS,
    pause_ms: PAUSE_MS,
    work: async () => {
      const events = await fanOutWebhookEvents(deps);
      await deliveries.begin();
      return events > 0;
    },
    failure: 'webhook events could not be delivered; this will be tried again',
  });
  const renewing = repeat(log, {
    sql,
    every_ms: Math.min(RENEW_MS, (options.lease_ms ?? Infinity) / 4),
    pause_ms: PAUSE_MS,
    work: () => deliveries.renew().then(() => false),
    failure: 'leases of webhook queues could not be renewed; this will be tried again',
  });
  return {
    stop: async () => {
      await delivering.stop();
      await deliveries.stop();
      await renewing.stop();
    },
  };
}
