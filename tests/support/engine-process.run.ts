import { loadConfig } from '../../src/config';
import { createDeps } from '../../src/deps';
import { startOutreach } from '../../src/background/outreach-loop';

const config = loadConfig();
startOutreach(createDeps({ config, database_url: config.database_url! }), {
  lease_ms: Number(process.env.LEASE_MS),
});
process.stdout.write('up\n');
