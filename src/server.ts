import { createServer, type Server } from 'node:http';
import closeWithGrace from 'close-with-grace';
import { createApp } from './app';
import { ConfigError, loadConfig, type Config } from './config';
import { ensureDemo } from './demo';
import { FORGET_OLD_ANSWERS } from './http/idempotency';
import { openInstallation, type Installation } from './installation';
import type { NewCompany } from './workflows/create-company';

const HOUR_MS = 3_600_000;
/** How long clients are told to leave before the listener closes. */
const FAREWELL_MS = 250;
/** How long what is in flight may take at a stop. */
const PATIENCE_MS = 7_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** How far apart the two halves of one Ctrl-C may come. */
const ECHO_MS = 1_000;

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
  const demo = await ensureDemo(deps);
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 60_000, keepAliveTimeout: 65_000 }, createApp(deps));
  let closing = false;
  // Prepended, so that it speaks before the application answers.
  server.prependListener('request', (_req, res) => void (closing && res.setHeader('Connection', 'close')));
  await listen(server, config);
  const sweep = setInterval(() => void deps.database.pool.query(FORGET_OLD_ANSWERS).catch((error) => deps.log.warn({ err: error }, 'sweep failed')), HOUR_MS);
  const flush = setInterval(() => deps.log.flush(), 500);
  const { close } = closeWithGrace({ delay: 9_500, logger: undefined, skip: [...SIGNALS] }, async ({ err }) => {
    if (err) deps.log.fatal({ err }, 'stopping after a fault');
    closing = true;
    clearInterval(sweep);
    clearInterval(flush);
    await stop(server);
    await installation.close();
    deps.log.flush();
  });
  for (const signal of SIGNALS) onSignal(signal, close);
  greet(config, installation, demo);
}

/**
 * Ctrl-C under npm arrives twice, from the terminal and passed on by npm: the second is no second wish. One that comes later is, and ends the
 * process where it stands.
 */
function onSignal(signal: (typeof SIGNALS)[number], close: () => void): void {
  let first = 0;
  process.on(signal, () => {
    if (first === 0) close();
    else if (Date.now() - first > ECHO_MS) process.exit(1);
    first ||= Date.now();
  });
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

function greet({ port, host, data_dir }: Config, { embedded, migrated }: Installation, demo: NewCompany | undefined): void {
  const url = `http://${host === '0.0.0.0' || host === '::' ? 'localhost' : host}:${port}`;
  const lines = ['', `Trunkline is up.  Docs: ${url}/api/docs`];
  lines.push(
    embedded ? `Database: its own PostgreSQL, data in ${data_dir}` : 'Database: DATABASE_URL',
    ...(migrated.length > 0 ? [`Migrations applied: ${migrated.join(', ')}`] : []),
  );
  if (demo) {
    const { public_key, private_key } = demo.credentials;
    lines.push('', 'A demo company was made. Its key pair, shown this once:', `  public key   ${public_key}`, `  private key  ${private_key}`);
    lines.push('', 'Try it:', `  curl -s -u ${public_key}:${private_key} '${url}/api/v1/buyers?columns=id,name,number,paused'`);
  } else {
    lines.push('Found its data; credentials are as before. New ones: npm run --silent cli -- token create --name NAME --superuser');
  }
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

main().catch((error: unknown) => {
  const text = error instanceof ConfigError ? error.message : explain(error as NodeJS.ErrnoException);
  process.stderr.write(`${text}\n`);
  process.exit(1);
});

function explain(error: NodeJS.ErrnoException & { port?: number }): string {
  if (error.code === 'EADDRINUSE') return `Port ${error.port} is taken by another program. Stop it, or choose another: PORT=3001 npm start`;
  if (error.code === 'ECONNREFUSED') return `The database of DATABASE_URL cannot be reached: ${error.message}`;
  return error.stack ?? String(error);
}
