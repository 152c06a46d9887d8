import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { TYPESCRIPT } from './process';
import { PEPPER_OF_TESTS, type World } from './world';

/** A process that sends the webhooks of a world, and that a test may kill. */
export async function startWebhookProcess(
  world: World,
  { lease_ms, delays }: { lease_ms: number; delays: readonly number[] },
): Promise<ChildProcess> {
  const { storage_dir, data_dir } = world.deps.config;
  const settings = {
    ...world.database,
    DATA_DIR: data_dir,
    STORAGE_DIR: storage_dir,
    LOG_LEVEL: 'silent',
    KEY_PEPPER: PEPPER_OF_TESTS,
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32',
  };
  const child = spawn('node', [...TYPESCRIPT, join(__dirname, 'webhook-process.run.ts')], {
    cwd: join(__dirname, '../..'),
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...settings,
      LEASE_MS: String(lease_ms),
      DELAYS_MS: delays.join(),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  world.processes.push(child);
  await new Promise<void>((done, fail) => {
    child.stdout.on('data', () => done());
    child.once('exit', (code) => fail(new Error(`the webhook process ended with ${code}`)));
  });
  return child;
}
