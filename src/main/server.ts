import { createApp } from './app';
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
import { Children } from './processes/children';
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
  const { server, closeConnections, stop } = httpServer(deps, createApp(deps));
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

/**
 * Serves with WEB_CONCURRENCY processes that share the port, and one that runs the jobs. This
 * process has opened the installation, and does the work that must be done once: it creates the
 * first company, deletes expired data, and starts processes again that have died.
 */
async function serveInProcesses(config: Config, installation: Installation): Promise<void> {
  const { deps } = installation;
  const children = new Children({
    log: deps.log,
    start: {
      database_url: deps.database.url,
      pepper: deps.pepper,
      storage_mark: deps.storage.settings.mark,
    },
  });
  const start = async () => {
    await Promise.all(Array.from({ length: config.web_concurrency }, () => children.add('web')));
    // After listening: a start that fails there must not have created keys that were never shown.
    const firstStart = await prepareCompanies(deps);
    if (config.run_jobs) await children.add('jobs');
    return { first_start: firstStart, stopDeleting: deleteExpiredHourly(deps) };
  };
  const starting = start();
  // Registered before requests arrive. A stop during the start waits until the start has ended.
  const stop = async () => {
    (await starting).stopDeleting();
    await children.stop();
    await installation.close();
  };
  // A terminal that is closed sends SIGHUP as well.
  if (process.stdin.isTTY) onStop(deps, stop);
  else {
    onStop(deps, stop, ['SIGINT', 'SIGTERM']);
    const restart = () =>
      void starting.then(
        () => children.restart(),
        () => undefined,
      );
    process.on('SIGHUP', restart);
  }
  const { first_start } = await starting;
  process.stdout.write(banner(config, installation, first_start));
}

if (require.main === module) runServer().catch(exitWith);
