import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Carrier } from '../../src/platform/carriers/carrier';
import { createDeps } from '../../src/operate/installation/deps';
import { type Deps } from '../../src/domain/deps';
import { TYPESCRIPT } from './process';
import { PEPPER_OF_TESTS, testConfig, type World } from './world';
import { FAR_MS } from './patience';

const ROOT = join(__dirname, '../..');

/**
 * A process that contacts the leads of a world; it may be killed. Short leases make other workers
 * take its leads over soon.
 */
export async function startEngineProcess(
  world: World,
  leaseMs: number,
  environment: Record<string, string> = {},
): Promise<ChildProcess> {
  const { storage_dir, data_dir } = world.deps.config;
  const settings = {
    ...world.database,
    DATA_DIR: data_dir,
    STORAGE_DIR: storage_dir,
    LOG_LEVEL: 'silent',
    KEY_PEPPER: PEPPER_OF_TESTS,
    LEASE_MS: String(leaseMs),
  };
  const child = spawn('node', [...TYPESCRIPT, join(__dirname, 'engine-process.run.ts')], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...settings, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  world.processes.push(child);
  await new Promise<void>((done, fail) => {
    child.stdout.on('data', () => done());
    child.once('exit', (code) => fail(new Error(`the engine process ended with ${code}`)));
  });
  return child;
}

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
