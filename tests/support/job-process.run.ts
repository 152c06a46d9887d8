import { loadConfig } from '../../src/main/config';
import { createDeps } from '../../src/operate/installation/deps';
import { startWorkers } from '../../src/data/jobs/workers';
import { createRunners } from '../../src/main/background/runners';

const config = loadConfig();
const deps = createDeps({ config, database_url: config.database_url! });
const timing = { expire_seconds: 1, heartbeat_ms: 250, maintenance_seconds: 1, poll_ms: 200 };
void startWorkers({
  database: deps.database,
  log: deps.log,
  runners: createRunners(deps),
  timing,
}).then(() => process.stdout.write('up\n'));
