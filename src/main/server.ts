import { deleteExpiredHourly } from './background/delete-expired';
import { exitWith, onStop, toTracingOptions } from './background/process';
import { startTracing } from '../platform/telemetry/tracing';
import { startJobs } from './background/start';
import { loadConfig } from './config';
import { type Config } from '../platform/config';
import { openConfiguredStorage } from '../operate/installation/deps';
import { banner } from './banner';
import { prepareCompanies } from './demo/demo';
import { checkAddress, listen } from '../operate/installation/listen';
import { openInstallation, type Installation } from '../operate/installation/open';
import { httpServer } from './processes/http-server';
import { measurements } from './processes/measure';
import { serveInProcesses } from './processes/primary';
import { processes } from '../platform/telemetry/metrics';

/**
 * The server: opens the installation, listens, runs background jobs unless RUN_JOBS=false. With
 * WEB_CONCURRENCY, processes of their own listen and run the jobs. Throws if the start is refused.
 */
export async function runServer(environment?: NodeJS.ProcessEnv): Promise<void> {
  const config = loadConfig(environment);
  processes.set({ role: config.web_concurrency > 1 ? 'primary' : 'server' }, 1);
  await checkAddress(config);
  startTracing(toTracingOptions(config));
  if (config.s3) await openConfiguredStorage(config).check();
  const installation = await openInstallation(config, { role: 'server', kind: 'server' });
  const start = config.web_concurrency > 1 ? serveInProcesses : serve;
  await start(config, installation).catch(async (error: unknown) => {
    await installation.close();
    throw error;
  });
}

async function serve(config: Config, installation: Installation): Promise<void> {
  const { deps } = installation;
  const { server, closeConnections, stop } = httpServer(deps, measurements(deps));
  const start = async () => {
    await listen(server, config);
    // After listening: a start that fails there must not have created keys that were never shown.
    const firstStart = await prepareCompanies(deps);
    const jobs = config.run_jobs ? await startJobs(deps) : undefined;
    return { first_start: firstStart, jobs, stopDeleting: deleteExpiredHourly(deps) };
  };
  const starting = start();
  // Registered before requests arrive. A stop during the start waits until the start has ended.
  onStop(deps, async () => {
    closeConnections();
    const { jobs, stopDeleting } = await starting;
    stopDeleting();
    deps.live.close();
    await Promise.all([stop(), jobs?.stop()]);
    await installation.close();
  });
  const { first_start } = await starting;
  process.stdout.write(banner(config, installation, first_start));
}

if (require.main === module) runServer().catch(exitWith);
