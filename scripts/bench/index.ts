import { execFileSync } from 'node:child_process';
import { BENCHES, selectBenches } from './benches';
import { option } from './tools';
import { startDatabase } from './world';

// docs/performance.md describes the measurements. All contenders take turns in one run because
// machines are noisy: medians and ratios count, not single figures.

const USAGE = `npm run bench [-- --seconds N] [--rounds N] [--sizes 10000,1000000] [--only BENCH]
              [--compare REV] [--node MAJOR]

BENCH is one or several of these, table, or part of the name of a request:
${Object.keys(BENCHES).join(', ')}
`;

async function measure(only: string): Promise<void> {
  // The benches run the build, which must not be older than the source.
  if (!process.argv.includes('--no-build'))
    execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  const server = await startDatabase();
  try {
    for (const name of selectBenches(only)) {
      const bench = await BENCHES[name]!();
      await bench(server);
    }
  } finally {
    await server.stop();
  }
}

/** Returns the exit code: 1 when a comparison finds something slower. */
async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const [only, rev, node] = [option('only', ''), option('compare', ''), option('node', '')];
  if (rev !== '') return (await import('./compare.js')).compareCommits(rev);
  if (node !== '') return (await import('./compare.js')).compareNodes(node);
  if (only === 'table') await (await import('./table.js')).benchTable();
  else await measure(only);
  return 0;
}

// The processes that a bench starts end with it, and are not in its terminal's group.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
