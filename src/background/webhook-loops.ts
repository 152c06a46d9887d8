import { deliverer, type DeliveryDeps, type DeliveryOptions } from '../webhooks/deliver';
import { fanOutWebhookEvents } from '../webhooks/fan-out-events';
import { repeat, type Running } from '../jobs/loop';

const EVERY_MS = 250;
const RENEW_MS = 3_000;
const PAUSE_MS = 2_000;

/** Tells webhooks of what happens, until it is stopped; any number of processes may. */
export function startWebhooks(deps: DeliveryDeps, options: DeliveryOptions = {}): Running {
  const { log } = deps;
  const deliveries = deliverer(deps, options);
  const renew_ms = Math.min(RENEW_MS, (options.lease_ms ?? Infinity) / 4);
  const usual = { pause_ms: PAUSE_MS, every_ms: EVERY_MS };
  const loops = [
    repeat(log, {
      ...usual,
      work: async () => {
        const events = await fanOutWebhookEvents(deps);
        await deliveries.begin();
        return events > 0;
      },
      failure: 'webhooks could not be told: tried again',
    }),
    repeat(log, {
      ...usual,
      every_ms: renew_ms,
      work: () => deliveries.renew().then(() => false),
      failure: 'webhooks could not be held on to: tried again',
    }),
  ];
  return {
    stop: async () => {
      const [telling, renewing] = loops;
      await telling!.stop();
      await deliveries.stop();
      await renewing!.stop();
    },
  };
}
