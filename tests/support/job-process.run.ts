import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as Config from '../../src/main/config';
import type * as Deps from '../../src/operate/installation/deps';
import type * as Workers from '../../src/data/jobs/workers';
import type * as Runners from '../../src/main/background/runners';

// Runs jobs with the program in this folder: dist or src.
const load = createRequire(join(process.env.PROGRAM!, 'program'));
const { loadConfig } = load('./main/config') as typeof Config;
const { createDeps } = load('./operate/installation/deps') as typeof Deps;
const { startWorkers } = load('./data/jobs/workers') as typeof Workers;
const { createRunners } = load('./main/background/runners') as typeof Runners;

const config = loadConfig();
const deps = createDeps({ config, database_url: config.database_url! });
const timing = { expire_seconds: 1, heartbeat_ms: 250, retry_seconds: 0, poll_ms: 200 };
void startWorkers({
  database: deps.database,
  log: deps.log,
  runners: createRunners(deps),
  timing,
}).then(() => process.stdout.write('up\n'));
