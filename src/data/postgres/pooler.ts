import type { Client } from 'pg';
import { StartError } from '../../platform/start-error';
import { connectionFault, serverName } from './connection-fault';
import { HostsClient } from './hosts-client';
import {
  IS_PREPARED,
  KEPT_SETTING,
  OWN_PID,
  POOLER_PROBE,
  SEES_LOCK,
  SESSION_SETTINGS,
} from './queries/pooler';
import {
  entryUrl,
  POOLED,
  pooledSession,
  pooledSettings,
  type Pooled,
  type Settings,
} from './session-settings';
import { sqlOn } from '../sql';

// A pooler in transaction mode, such as PgBouncer, gives each transaction another session. Work
// that needs a session of its own uses DATABASE_DIRECT_URL. The start checks that the pooler
// handles the rest: its faults would otherwise show later, as wrong plans and waits.

const CONNECT_TIMEOUT_MS = 10_000;
const MIN_VERSION = [1, 21] as const;
const GUIDE = 'see "PgBouncer" in docs/scale.md';

async function onClient<T>(
  session: { connectionString: string; options?: string },
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new HostsClient({ ...session, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // A connection that breaks rejects its query; without a listener it would also end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

const isRefusedParameter = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('unsupported startup parameter');

const PROBE = { name: 'trunkline.probe', value: 'kept' };

/**
 * True if a server keeps settings that a connection makes at its start. PostgreSQL does; poolers
 * refuse or drop them.
 */
const keepsSettings = (url: string): Promise<boolean> =>
  onClient(
    { connectionString: url, options: `-c ${PROBE.name}=${PROBE.value}` },
    async (client) => {
      const [setting] = await sqlOn(client)(KEPT_SETTING, { name: PROBE.name });
      return setting!.value === PROBE.value;
    },
  ).catch((error: unknown) => {
    if (isRefusedParameter(error)) return false;
    throw error;
  });

export async function refusePooler(variable: string, url: string): Promise<void> {
  if (await keepsSettings(url)) return;
  const direct =
    variable === 'DATABASE_URL'
      ? 'set DATABASE_DIRECT_URL to PostgreSQL itself, for what needs a session of its own'
      : 'set it to PostgreSQL itself';
  throw new StartError(
    `${variable}: ${serverName(url)} is a connection pooler, such as PgBouncer; ${direct} ` +
      `(${GUIDE}).`,
  );
}

interface PoolerServers {
  url: string;
  direct_url: string;
  timeout_ms: number;
}

/**
 * Checks that DATABASE_URL is a pooler that handles prepared statements, and that each pool has an
 * entry there with the required session settings. `direct` is a connection to PostgreSQL itself
 * that holds the advisory lock `lock`.
 */
export async function checkPooler(
  { url, direct_url, timeout_ms }: PoolerServers,
  direct: Client,
  lock: number,
): Promise<void> {
  await checkPreparedStatements({ url, direct_url });
  const [directSession] = await sqlOn(direct)(OWN_PID, {});
  const settings = pooledSettings(timeout_ms);
  const faults: string[] = [];
  for (const name of POOLED) {
    const check = () =>
      onClient(pooledSession({ url, direct_url }, name, settings[name]), async (client) => {
        const [lockCheck] = await sqlOn(client)(SEES_LOCK, { lock, pid: directSession!.pid });
        if (!lockCheck!.found) throw buildOtherDatabaseError(url, name);
        // Twice: a pooler that resets sessions after each transaction has reset the second.
        return (
          (await wrongSettings(client, settings[name])) || wrongSettings(client, settings[name])
        );
      });
    const fault = await check().catch((error: unknown) => {
      throw entryFault(url, name, error);
    });
    if (fault) faults.push(`${readEntryName(url, name)}: ${fault}`);
  }
  if (faults.length === 0) return;
  throw new StartError(
    `DATABASE_URL: the sessions of ${serverName(url)} are not set as they must be: ` +
      `${faults.join('; ')}. Leave server_reset_query_always off, and print the entries with ` +
      `npx trunkline pgbouncer (${GUIDE}).`,
  );
}

const readEntryName = (url: string, name: Pooled): string =>
  decodeURIComponent(new URL(entryUrl(url, name)).pathname.slice(1));

async function wrongSettings(client: Client, expected: Settings): Promise<string> {
  const all = { ...expected, TimeZone: 'UTC' };
  const rows = await sqlOn(client)(SESSION_SETTINGS, { names: Object.keys(all) });
  const actualSettings = new Map(rows.map(({ name, setting }) => [name, setting]));
  return Object.entries(all)
    .filter(([name, value]) => actualSettings.get(name) !== value)
    .map(([name, value]) => `${name} is ${actualSettings.get(name)} and must be ${value}`)
    .join(', ');
}

const buildOtherDatabaseError = (url: string, name: Pooled): StartError =>
  new StartError(
    `DATABASE_URL: ${readEntryName(url, name)} at ${serverName(url)} is not the database of ` +
      'DATABASE_DIRECT_URL; correct the one that is wrong.',
  );

/** Explains why an entry cannot be used; poolers have no error codes for it. */
function entryFault(url: string, name: Pooled, error: unknown): unknown {
  const { message, code } = error as { message: string; code?: string };
  if (!/no such database/.test(message) && code !== '3D000') return connectionFault(url, error);
  return new StartError(
    `DATABASE_URL: ${serverName(url)} has no entry "${readEntryName(url, name)}"; print the ` +
      `entries that it must have with npx trunkline pgbouncer (${GUIDE}).`,
  );
}

/**
 * A pooler that handles prepared statements renames them, because the sessions behind it are
 * shared. One that does not passes our names through, where they collide with others.
 */
async function checkPreparedStatements(servers: {
  url: string;
  direct_url: string;
}): Promise<void> {
  const { url } = servers;
  const handled = await onClient(pooledSession(servers, 'pool', {}), async (client) => {
    const sql = sqlOn(client);
    await client.query('BEGIN');
    await sql(POOLER_PROBE, {});
    const [probe] = await sql(IS_PREPARED, { name: POOLER_PROBE.name });
    if (probe!.found) await client.query(`DEALLOCATE "${POOLER_PROBE.name}"`);
    await client.query('ROLLBACK');
    return !probe!.found;
  }).catch((error: unknown) => {
    const { code } = error as { code?: string };
    // Another connection has left its statement in the session, or the pooler is too old for
    // `options`.
    if (code === '42P05' || isRefusedParameter(error)) return false;
    throw entryFault(url, 'pool', error);
  });
  if (handled) return;
  if (await keepsSettings(url))
    throw new StartError(
      `DATABASE_DIRECT_URL is set, and DATABASE_URL, ${serverName(url)}, is PostgreSQL itself ` +
        'and no pooler: unset DATABASE_DIRECT_URL, or correct DATABASE_URL.',
    );
  const reason = unpreparedReason(serverName(url), await poolerVersion(url));
  throw new StartError(`DATABASE_URL: ${reason} (${GUIDE}).`);
}

/**
 * Reason to refuse the pooler at this server; `version` is undefined if its console does not show
 * it.
 */
export function unpreparedReason(server: string, version: string | undefined): string {
  const needs = 'PgBouncer 1.21 or later with max_prepared_statements above 0 is needed';
  if (version === undefined)
    return `the pooler at ${server} does not handle prepared statements: ${needs}`;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1]);
  return isOld
    ? `${server} is PgBouncer ${version}, which is too old: ${needs}`
    : `${server} is PgBouncer ${version} with max_prepared_statements = 0: set it to 1000`;
}

const poolerVersion = (url: string): Promise<string | undefined> => {
  const consoleUrl = new URL(url);
  consoleUrl.pathname = '/pgbouncer';
  return onClient({ connectionString: consoleUrl.href }, async (client) => {
    const { rows } = await client.query<{ version: string }>('SHOW VERSION');
    return /^PgBouncer (\S+)/.exec(rows[0]?.version ?? '')?.[1];
  }).catch(() => undefined);
};
