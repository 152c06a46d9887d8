import { loadConfig } from '../../src/main/config';
import { createDeps } from '../../src/operate/installation/deps';
import { startOutreach } from '../../src/main/background/start';

const config = loadConfig();
startOutreach(createDeps({ config, database_url: config.database_url! }), {
  lease_ms: Number(process.env.LEASE_MS),
});
process.stdout.write('up\n');
