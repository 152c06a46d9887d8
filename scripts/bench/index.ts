import { execFileSync } from 'node:child_process';
import type { EmbeddedDatabase } from '../../src/db/embedded-postgres';
import { option } from './tools';
import { startDatabase } from './world';

// npm run bench [-- --seconds N] [--rounds N] [--sizes 10000,1000000] [--only BENCH]
//               [--compare REV] [--node MAJOR]
//
// BENCH is one of BENCHES, table, or part of the name of a request. docs/performance.md says what
// each measures. All contenders take turns in one run because machines are noisy: medians and
// ratios count, not single figures.

type Bench = (server: EmbeddedDatabase) => Promise<unknown>;

/** A bench is only loaded when it runs: an older commit may lack what another one imports. */
const BENCHES: Record<string, () => Promise<Bench>> = {
  requests: async () => (await import('./requests.js')).benchRequests,
  imports: async () => (await import('./imports.js')).benchImports,
  lookup: async () => (await import('./import-lookup.js')).benchLookup,
  leads: async () => (await import('./leads.js')).benchLeads,
  engine: async () => (await import('./engine.js')).benchEngine,
  'engine-tick': async () => (await import('./engine-tick.js')).benchEngineTick,
  calls: async () => (await import('./calls.js')).benchCalls,
  decisions: async () => (await import('./decisions.js')).benchDecisions,
  events: async () => (await import('./events.js')).benchEvents,
  teams: async () => (await import('./teams.js')).benchTeams,
  deliveries: async () => (await import('./deliveries.js')).benchDeliveries,
  soak: async () => (await import('./soak.js')).benchSoak,
};
/** imports includes the look-up; soak takes ten minutes. */
const ALL = Object.keys(BENCHES).filter((name) => name !== 'lookup' && name !== 'soak');

async function measure(only: string): Promise<void> {
  // The benches run the build, which must not be older than the source.
  if (!process.argv.includes('--no-build'))
    execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  const server = await startDatabase();
  try {
    const names = only.split(',');
    const listed = names.every((name) => name in BENCHES) ? names : [only];
    for (const name of only === '' ? ALL : listed) {
      const bench = await (BENCHES[name] ?? BENCHES.requests!)();
      await bench(server);
    }
  } finally {
    await server.stop();
  }
}

/** Returns the exit code: 1 when a comparison finds something slower. */
async function main(): Promise<number> {
  const [only, rev, node] = [option('only', ''), option('compare', ''), option('node', '')];
  if (rev !== '') return (await import('./compare.js')).compareCommits(rev);
  if (node !== '') return (await import('./compare.js')).compareNodes(node);
  if (only === 'table') await (await import('./table.js')).benchTable();
  else await measure(only);
  return 0;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
