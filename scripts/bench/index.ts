import { benchImports, benchLookup } from './imports';
import { benchRequests } from './requests';
import { option } from './tools';
import { startDatabase } from './world';

// npm run bench [-- --seconds N] [--rounds N] [--sizes 10000,1000000] [--only requests|imports|lookup|NAME OF A REQUEST]
// Side by side in one run, in turns, because machines are noisy: medians and ratios count, not single figures.

async function main(): Promise<void> {
  const server = await startDatabase();
  const only = option('only', '');
  if (only === 'lookup') await benchLookup(server);
  else if (only !== 'imports') await benchRequests(server);
  if (only === '' || only === 'imports') await benchImports(server);
  await server.stop();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
