import { deleteExpiredHourly } from '../background/delete-expired';
import { onStop } from '../background/process';
import type { Config } from '../../platform/config';
import { banner } from '../banner';
import { prepareCompanies } from '../demo/demo';
import type { Installation } from '../../operate/installation/open';
import { Children } from './children';

/**
 * Serves with WEB_CONCURRENCY processes that share the port, and one that runs the jobs. This
 * process has opened the installation, and does the work that must be done once: it creates the
 * first company, deletes expired data, and starts processes again that have died.
 */
export async function serveInProcesses(config: Config, installation: Installation): Promise<void> {
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
