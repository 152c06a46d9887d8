import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { startUsageMeter, type CpuUsage } from './cpu';
import { checkTexted, openDueLeads, watchTexted } from './engine-leads';
import { measureGrowth, listPids, startWorkers } from './fleet-world';
import { end, option } from './tools';
import { dropWorld } from './world';

// Steps of outreach: leads that are due at once are texted through the sandbox carrier, by one or
// two workers.

const LEADS = Number(option('steps', '20000'));
const NAME = 'bench_fleet_steps';

export interface Steps {
  workers: number;
  steps: number;
  spent: CpuUsage;
  /** Bytes that a step adds to the database. */
  bytes: number;
}

/** Texts all leads; measures from the time that all workers run. */
export async function measureSteps(server: EmbeddedDatabase, workers: number): Promise<Steps> {
  const world = await openDueLeads(server, NAME, LEADS);
  const texted = await watchTexted(world);
  try {
    let measured = { steps: 0, spent: startUsageMeter({})() };
    const bytes = await measureGrowth(world.url, async () => {
      const workerProcesses = await startWorkers(world.url, workers);
      const first = await texted.until(1);
      const spent = startUsageMeter(listPids([], workerProcesses));
      const last = await texted.until(LEADS);
      measured = { steps: last.n - first.n, spent: spent() };
      await end(workerProcesses);
    });
    await checkTexted(world, LEADS);
    return { workers, ...measured, bytes: bytes / LEADS };
  } finally {
    await texted.close();
    await dropWorld(server, NAME);
  }
}
