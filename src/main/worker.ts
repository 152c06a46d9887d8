import { loadConfig } from './config';
import { giveWay } from '../data/postgres/lower-priority';
import { openConfiguredStorage } from '../operate/installation/deps';
import { openInstallation } from '../operate/installation/open';
import { startJobs } from './background/start';
import { exitWith, onStop, toTracingOptions } from './background/process';
import { startTracing } from '../platform/telemetry/tracing';

/**
 * A process that only runs background jobs; servers leave them to it with RUN_JOBS=false. Where
 * both share a processor, it gives way to them. Throws if the start is refused.
 */
export async function runWorker(environment?: NodeJS.ProcessEnv): Promise<void> {
  const config = loadConfig(environment);
  startTracing(toTracingOptions(config));
  if (config.s3) await openConfiguredStorage(config).check();
  const installation = await openInstallation(config, {
    kind: 'worker',
    in_background: true,
  });
  giveWay();
  const starting = startJobs(installation.deps);
  onStop(installation.deps, async () => {
    await (await starting).stop();
    await installation.close();
  });
  await starting;
  process.stdout.write('Trunkline runs jobs.\n');
}

if (require.main === module) runWorker().catch(exitWith);
