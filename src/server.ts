import { createServer, type Server } from 'node:http';
import { createApp } from './app';
import { loadConfig, type Config } from './config';
import { ensureDemo } from './installation/demo';
import { messageClasses } from './http/message-classes';
import { DELETE_EXPIRED_ANSWERS } from './http/idempotency';
import { DELETE_EXPIRED_WINDOWS } from './db/rate-limit-counter';
import { deleteExpiredPings } from './ping-post/delete-expired-pings';
import { openInstallation, type Installation } from './installation/open';
import { startJobs } from './background/start';
import { exitWith, onStop } from './background/process';
import type { NewCompany } from './installation/create-company';
import { deleteOrphanedUploads } from './background/delete-orphaned-uploads';
import { deleteOldWebhookLogs } from './webhooks/delete-old-logs';

const HOUR_MS = 3_600_000;
/** How long clients are told to leave before the listener closes. */
const FAREWELL_MS = 250;
/** How long what is in flight may take at a stop. */
const PATIENCE_MS = 7_000;

async function main(): Promise<void> {
  const config = loadConfig();
  const installation = await openInstallation(config, 'server');
  await serve(config, installation).catch(async (error: unknown) => {
    await installation.close();
    throw error;
  });
}

async function serve(config: Config, installation: Installation): Promise<void> {
  const { deps } = installation;
  const { database, log } = deps;
  const demo = await ensureDemo(deps);
  // An hour is for uploads; other bodies are given less (app.ts).
  const app = createApp(deps);
  const server = createServer(
    {
      ...messageClasses(app),
      headersTimeout: 5_000,
      requestTimeout: HOUR_MS,
      keepAliveTimeout: 65_000,
    },
    app,
  );
  let closing = false;
  // Prepended, so that it speaks before the application answers.
  server.prependListener(
    'request',
    (_req, res) => void (closing && res.setHeader('Connection', 'close')),
  );
  await listen(server, config);
  const jobs = config.run_jobs ? await startJobs(deps) : undefined;
  const sweep = () => {
    const forgotten = [DELETE_EXPIRED_ANSWERS, DELETE_EXPIRED_WINDOWS].map((statement) =>
      database.pool.query(statement),
    );
    for (const swept of [
      ...forgotten,
      deleteExpiredPings(database.sql),
      deleteOrphanedUploads(deps),
      deleteOldWebhookLogs(deps, config.webhook_log_days),
    ])
      swept.catch((error) => log.warn({ err: error }, 'sweep failed'));
  };
  sweep();
  const sweeping = setInterval(sweep, HOUR_MS);
  onStop(deps, async () => {
    closing = true;
    clearInterval(sweeping);
    deps.live.close();
    await Promise.all([stop(server), jobs?.stop()]);
    await installation.close();
  });
  greet(config, installation, demo);
}

function listen(server: Server, { port, host }: Config): Promise<void> {
  return new Promise((done, fail) => server.once('error', fail).listen(port, host, () => done()));
}

/** Answers what is in flight, and lets no request be cut off: first clients are told to leave, then the listener closes. */
async function stop(server: Server): Promise<void> {
  await new Promise((done) => setTimeout(done, FAREWELL_MS));
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  // One who has stopped reading must not keep the database from being stopped too.
  const patience = setTimeout(() => server.closeAllConnections(), PATIENCE_MS);
  await new Promise((done) => server.close(done));
  clearTimeout(patience);
  clearInterval(idle);
}

function greet(
  { port, host, data_dir, run_jobs }: Config,
  { embedded, migrated }: Installation,
  demo: NewCompany | undefined,
): void {
  const url = `http://${host === '0.0.0.0' || host === '::' ? 'localhost' : host}:${port}`;
  const lines = ['', `Trunkline is up.  Docs: ${url}/api/docs`];
  lines.push(
    embedded ? `Database: its own PostgreSQL, data in ${data_dir}` : 'Database: DATABASE_URL',
    ...(migrated.length > 0 ? [`Migrations applied: ${migrated.join(', ')}`] : []),
    ...(run_jobs ? [] : ['Imports, and the schedules of leads, are left to: npm run worker']),
  );
  if (demo) {
    const { public_key, private_key } = demo.credentials;
    lines.push(
      '',
      'A demo company was made. Its key pair, shown this once:',
      `  public key   ${public_key}`,
      `  private key  ${private_key}`,
    );
    lines.push(
      '',
      'Try it:',
      `  curl -s -u ${public_key}:${private_key} '${url}/api/v1/buyers?columns=id,name,number,paused'`,
    );
  } else {
    lines.push(
      'Found its data; credentials are as before. New ones: npm run --silent cli -- token create --name NAME --superuser',
    );
  }
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

main().catch(exitWith);
