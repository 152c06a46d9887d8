import { setTimeout } from 'node:timers/promises';
import type { Carrier } from '../../src/platform/carriers/carrier';
import { createDeps } from '../../src/operate/installation/deps';
import { type Deps } from '../../src/domain/deps';
import { startWorldProcess } from './job-process';
import { testConfig, type World } from './world';
import { FAR_MS } from './patience';

/**
 * A process that contacts the leads of a world; it may be killed. Short leases make other workers
 * take its leads over soon.
 */
export const startEngineProcess = (
  world: World,
  leaseMs: number,
  environment: Record<string, string> = {},
) =>
  startWorldProcess(world, 'engine-process.run.ts', { LEASE_MS: String(leaseMs), ...environment });

/** Dependencies as other processes would have them, in this one. */
export function buildWorkers(world: () => World) {
  const opened: Deps[] = [];
  return {
    open(edges: Partial<Pick<Deps, 'carrier' | 'mailer'>> = {}): Deps {
      const { url, deps } = world();
      const workerDeps = createDeps({
        config: testConfig({ PUBLIC_URL: deps.config.public_url }),
        database_url: url,
        log: deps.log,
        ...edges,
      });
      opened.push(workerDeps);
      return workerDeps;
    },
    closeAll: async () => {
      for (const { database, mailer } of opened.splice(0))
        await database.close().finally(() => mailer.close());
    },
  };
}

export async function eventually(isSo: () => unknown, pauseMs = 5): Promise<void> {
  const deadline = Date.now() + FAR_MS;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`it never came to: ${isSo.toString()}`);
    await setTimeout(pauseMs);
  }
}

/** A promise that resolves when `open` is called. */
export function createGate() {
  let open!: () => void;
  const opened = new Promise<void>((done) => (open = done));
  return { open, opened };
}

/** Runs before a carrier is asked, and after its response while the caller still waits. */
export type Meanwhile = (phase: 'before' | 'after') => Promise<unknown>;

export function watchCarrier(carrier: Carrier, meanwhile: Meanwhile): Carrier {
  const during = async <T>(send: () => Promise<T>): Promise<T> => {
    await meanwhile('before');
    const outcome = await send();
    await meanwhile('after');
    return outcome;
  };
  return {
    ...carrier,
    sendSms: (request) => during(() => carrier.sendSms(request)),
    placeCall: (request) => during(() => carrier.placeCall(request)),
  };
}
