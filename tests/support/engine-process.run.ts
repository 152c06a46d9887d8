import { loadConfig } from '../../src/config';
import { createDeps } from '../../src/deps';
import { startEngine } from '../../src/background/outreach-loop';

const config = loadConfig();
startEngine(createDeps({ config, database_url: config.database_url! }), {
  lease_ms: Number(process.env.LEASE_MS),
});
process.stdout.write('up\n');
