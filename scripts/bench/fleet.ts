import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { option } from './tools';

// How much a machine serves: several API processes and workers (grid), the cost of each operation
// (costs), and the hardware for a day's work by these costs, checked at three sizes of load
// (model). Every rate is printed with the CPU time of each part, which shows the part that is full.

const PARTS: Record<string, () => Promise<(server: EmbeddedDatabase) => Promise<unknown>>> = {
  costs: async () => (await import('./fleet-costs.js')).benchCosts,
  model: async () => (await import('./fleet-check.js')).benchModel,
  grid: async () => (await import('./fleet-grid.js')).benchGrid,
};

export async function benchFleet(server: EmbeddedDatabase): Promise<void> {
  const requestedParts = option('parts', Object.keys(PARTS).join(',')).split(',');
  const unknown = requestedParts.filter((part) => !(part in PARTS));
  if (unknown.length > 0) throw new Error(`--parts ${unknown.join(',')}: there is no such part`);
  for (const [part, open] of Object.entries(PARTS)) {
    if (!requestedParts.includes(part)) continue;
    process.stderr.write(`${part} ...\n`);
    const run = await open();
    await run(server);
  }
}
