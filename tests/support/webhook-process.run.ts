import { loadConfig } from '../../src/main/config';
import { createDeps } from '../../src/operate/installation/deps';
import { startWebhooks } from '../../src/main/background/start';

const config = loadConfig();
const delays = process.env.DELAYS_MS!.split(',').map(Number);
startWebhooks(createDeps({ config, database_url: config.database_url! }), {
  delays,
  lease_ms: Number(process.env.LEASE_MS),
});
process.stdout.write('up\n');
