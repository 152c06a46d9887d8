import { createServer, type Server } from 'node:http';
import { isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import { createApp } from './app';
import { deleteOrphanedUploads } from './background/delete-orphaned-uploads';
import { exitWith, onStop } from './background/process';
import { startJobs } from './background/start';
import { loadConfig, type Config } from './config';
import { contract } from './contract';
import { deleteExpiredRateLimits } from './db/rate-limit-counter';
import { deleteUnusedCounts } from './db/saved-counts';
import { storageOf, type Deps } from './deps';
import { limitConnections } from './http/connections';
import { deleteExpiredAnswers } from './http/idempotency';
import { messageClasses } from './http/message-classes';
import type { NewCompany } from './installation/create-company';
import { prepareCompanies, type FirstStart } from './installation/demo';
import { checkAddress, listen } from './installation/listen';
import { databaseOf, openInstallation, type Installation } from './installation/open';
import { foldNextActions } from './leads/fold-next-actions';
import { deleteExpiredPings } from './ping-post/delete-expired-pings';
import { deleteOldWebhookLogs } from './webhooks/delete-old-logs';

// The server: opens the installation, listens, runs background jobs unless RUN_JOBS=false.

const HOUR_MS = 3_600_000;
/** How long clients are asked to leave (Connection: close) before the listener closes. */
const CLOSE_NOTICE_MS = 250;
/** How long requests that are running may take after that. */
const STOP_TIMEOUT_MS = 7_000;

async function main(): Promise<void> {
  const config = loadConfig();
  await checkAddress(config);
  if (config.s3) await storageOf(config).check();
  const installation = await openInstallation(config, { role: 'server' });
  await serve(config, installation).catch(async (error: unknown) => {
    await installation.close();
    throw error;
  });
}

async function serve(config: Config, installation: Installation): Promise<void> {
  const { deps } = installation;
  const { server, closeConnections } = serverOf(deps);
  await listen(server, config);
  // Only now: a start that ends here would have made keys that were never shown.
  const first_start = await prepareCompanies(deps);
  const jobs = config.run_jobs ? await startJobs(deps) : undefined;
  deleteExpired(deps);
  const deleting = setInterval(() => deleteExpired(deps), HOUR_MS);
  onStop(deps, async () => {
    closeConnections();
    clearInterval(deleting);
    deps.live.close();
    await Promise.all([stop(server), jobs?.stop()]);
    await installation.close();
  });
  process.stdout.write(`${banner(config, installation, first_start).join('\n')}\n\n`);
}

function serverOf(deps: Deps): { server: Server; closeConnections: () => void } {
  const app = createApp(deps);
  // An hour is for uploads; other bodies get a minute (app.ts).
  const timeouts = { headersTimeout: 5_000, requestTimeout: HOUR_MS, keepAliveTimeout: 65_000 };
  const server = createServer({ ...messageClasses(app), ...timeouts }, app);
  const { max_connections: max, trust_proxy } = deps.config;
  // Behind a proxy, all clients have its address.
  limitConnections(server, { max, ...(trust_proxy === 0 && { max_per_address: max / 2 }) });
  let closing = false;
  // Prepended: the header must be set before the application replies.
  server.prependListener(
    'request',
    (_req, res) => void (closing && res.setHeader('Connection', 'close')),
  );
  return { server, closeConnections: () => void (closing = true) };
}

/** Deletes what is kept for a limited time, and what is no longer needed. */
function deleteExpired(deps: Deps): void {
  const { config, database, log } = deps;
  const deletions = [
    deleteExpiredAnswers(database.sql),
    deleteExpiredPings(database.sql),
    deleteExpiredRateLimits(database.sql),
    deleteUnusedCounts(database.sql),
    foldNextActions(database.sql),
    deleteOrphanedUploads(deps),
    deleteOldWebhookLogs(deps, config.webhook_log_days),
  ];
  for (const deletion of deletions)
    deletion.catch((error: unknown) => log.warn({ err: error }, 'expired data was not deleted'));
}

/** Completes the requests that are running, then closes the listener. */
async function stop(server: Server): Promise<void> {
  await new Promise((done) => setTimeout(done, CLOSE_NOTICE_MS));
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  // A client that has stopped reading must not keep the database running.
  const timeout = setTimeout(() => server.closeAllConnections(), STOP_TIMEOUT_MS);
  await new Promise((done) => server.close(done));
  clearTimeout(timeout);
  clearInterval(idle);
}

function banner(
  config: Config,
  { migrated }: Installation,
  { demo, is_empty }: FirstStart,
): string[] {
  const { port, host, run_jobs } = config;
  const name = isIPv6(host) ? `[${host}]` : host;
  const url = `http://${host === '0.0.0.0' || host === '::' ? 'localhost' : name}:${port}`;
  return [
    '',
    `Trunkline is up.  Docs: ${url}/api/docs`,
    `Version: ${contract.document.info.version}`,
    `Database: ${databaseOf(config)}`,
    ...(migrated.length > 0 ? [`Migrations applied: ${migrated.join(', ')}`] : []),
    ...(run_jobs ? [] : ['Imports, and the schedules of leads, are left to: npm run worker']),
    ...(demo || is_empty ? pepperLines(config) : []),
    ...(demo ? demoLines(demo, url) : [is_empty ? NO_COMPANY : NEW_CREDENTIALS]),
  ];
}

const pepperLines = ({ key_pepper, data_dir }: Config): string[] =>
  key_pepper === undefined
    ? [`Keep ${join(resolve(data_dir), 'key_pepper')}: without it, no credential works.`]
    : [];

const NO_COMPANY = 'There is no company yet. Make one: npx trunkline company create --name NAME';
const NEW_CREDENTIALS =
  'Found its data; credentials are as before. ' +
  'New ones: npx trunkline token create --name NAME --superuser';

function demoLines({ credentials }: NewCompany, url: string): string[] {
  const { public_key, private_key } = credentials;
  const buyers = `${url}/api/v1/buyers?columns=id,name,number,paused`;
  return [
    '',
    'A demo company was made (without one: DEMO=false). Its key pair, shown this once:',
    `  public key   ${public_key}`,
    `  private key  ${private_key}`,
    '',
    'Try it:',
    `  curl -s -u ${public_key}:${private_key} '${buyers}'`,
  ];
}

main().catch(exitWith);
