import { startWorldProcess } from './job-process';
import type { World } from './world';

/** A process that sends the webhooks of a world, and that a test may kill. */
export const startWebhookProcess = (
  world: World,
  { lease_ms, delays }: { lease_ms: number; delays: readonly number[] },
) =>
  startWorldProcess(world, 'webhook-process.run.ts', {
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32',
    LEASE_MS: String(lease_ms),
    DELAYS_MS: delays.join(),
  });
