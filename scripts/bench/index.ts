import { execFileSync } from 'node:child_process';
import type { EmbeddedDatabase } from '../../src/db/embedded-postgres';
import { benchCalls } from './calls';
import { benchDecisions } from './decisions';
import { benchDeliveries } from './deliveries';
import { benchEngine } from './engine';
import { benchEngineTick } from './engine-tick';
import { benchLookup } from './import-lookup';
import { benchImports } from './imports';
import { benchLeadLists } from './lead-lists';
import { benchLeads } from './leads';
import { benchRequests } from './requests';
import { benchTeams } from './teams';
import { option } from './tools';
import { startDatabase } from './world';

// npm run bench [-- --seconds N] [--rounds N] [--sizes 10000,1000000] [--only BENCH]
//
// BENCH is requests, imports, lookup, leads, engine, engine-tick, calls, lead-lists, decisions,
// teams, deliveries or part of the name of a request. All contenders take turns in one run because

// machines are noisy: medians and ratios count, not single figures.

type Bench = (server: EmbeddedDatabase) => Promise<unknown>;
const BENCHES: Record<string, Bench> = {
  imports: benchImports,
  lookup: benchLookup,
  leads: benchLeads,
  engine: benchEngine,
  'engine-tick': benchEngineTick,
  calls: benchCalls,
  'lead-lists': benchLeadLists,
  decisions: benchDecisions,
  teams: benchTeams,
  deliveries: benchDeliveries,
};
const ALL: Bench[] = [
  benchRequests,
  benchImports,
  benchLeads,
  benchEngine,
  benchEngineTick,
  benchCalls,
  benchLeadLists,
  benchDecisions,
  benchTeams,
  benchDeliveries,
];

async function main(): Promise<void> {
  // The benches run the build, which must not be older than the source.
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  const server = await startDatabase();
  const only = option('only', '');
  try {
    for (const bench of only === '' ? ALL : [BENCHES[only] ?? benchRequests]) await bench(server);
  } finally {
    await server.stop();
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
