import type { Logger } from 'pino';
import { openCarrier } from './carriers';
import type { Carrier } from './carriers/carrier';
import type { Config } from './config';
import { openDatabase, type Database, type DatabaseOptions } from './db/client';
import { openRateLimitCounter } from './db/rate-limit-counter';
import { openAgentStreams, type AgentStreams } from './agents/streams';
import { oneDatabase } from './db/directory';
import { sqlOn } from './db/sql';
import { openStandby, type Standby } from './db/standby';
import { tenants, type TenantDatabases } from './db/tenant';
import { authenticator, type Authenticator } from './http/auth/authenticator';
import { rateLimits, type RateLimits } from './http/rate-limits';
import { queue, type Queue } from './jobs/queue';
import { createLog } from './log';
import { openMailer } from './mail';
import type { Mailer } from './mail/mailer';
import { openStorage } from './storage/open';
import type { Storage, StorageSettings } from './storage/storage';
import { guardedRequest, type GuardedRequest } from './egress/guarded-request';
import { folderFault } from './start-error';

/** Everything outside the process, and time: what the composition hands to those who need it. */
export interface Deps {
  config: Config;
  database: Database;
  /** The standby of DATABASE_READ_URL, if that is set. */
  standby: Standby | undefined;
  tenants: TenantDatabases;
  authenticator: Authenticator;
  limits: RateLimits;
  queue: Queue;
  live: AgentStreams;
  storage: Storage;
  carrier: Carrier;
  mailer: Mailer;
  /** Sends what customers have configured to where they said. */
  request: GuardedRequest & { close(): Promise<void> };
  pepper: string;
  clock: () => Date;
  log: Logger;
}

export interface DepsOptions {
  config: Config;
  database_url: string;
  clock?: () => Date;
  log?: Logger;
  /** Absent: KEY_PEPPER. */
  pepper?: string;
  /** Length of the windows in which requests are counted. */
  rate_window_seconds?: number;
  carrier?: Carrier;
  mailer?: Mailer;
  /** Whether the process answers no requests: its database sessions give way to those that do. */
  in_background?: boolean;
}

export function createDeps({
  config,
  database_url,
  clock = () => new Date(),
  log = createLog(config.log_level),
  pepper = config.key_pepper,
  ...edges
}: DepsOptions): Deps {
  if (pepper === undefined) throw new Error('a pepper is needed');
  const options: DatabaseOptions = {
    pool_size: config.pool_size,
    timeout_seconds: config.database_timeout_seconds,
    direct_url: config.database_direct_url,
    in_background: edges.in_background ?? false,
    onIdleError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
  };
  const database = openDatabase(database_url, options);
  const directory = oneDatabase(sqlOn(database.credentials));
  return {
    config,
    database,
    standby: standbyOf({ config, database, log }, options),
    tenants: tenants(database, directory),
    authenticator: authenticator({
      directory,
      pepper,
      clock,
      carrier: { auth_token: config.twilio.auth_token, public_url: config.public_url },
    }),
    limits: limitsOf({ config, database, log }, edges.rate_window_seconds),
    queue,
    live: openAgentStreams({
      database,
      clock,
      log,
      max_connections: config.max_connections,
    }),
    storage: storageOf(config),
    carrier:
      edges.carrier ??
      openCarrier(config.carrier, { ...config.twilio, public_url: config.public_url }),
    mailer:
      edges.mailer ??
      (config.smtp_url ? openMailer('smtp', { url: config.smtp_url }) : openMailer('sandbox')),
    request: guardedRequest({ allow_networks: config.webhook_allow_networks }),
    pepper,
    clock,
    log,
  };
}

/** Closes what dependencies have opened, once nothing uses it any more. */
export async function closeDeps({
  mailer,
  request,
  limits,
  standby,
  database,
}: Deps): Promise<void> {
  mailer.close();
  await request.close();
  await limits.close();
  await standby?.close();
  await database.close();
}

export const storageSettings = (config: Config): StorageSettings => ({
  folder: config.storage_dir,
  reserve_bytes: config.storage_reserve_bytes,
  s3: config.s3,
});

/** Only requests read from it. */
function standbyOf(
  { config, database, log }: Pick<Deps, 'config' | 'database' | 'log'>,
  options: DatabaseOptions,
): Standby | undefined {
  if (!config.database_read_url || options.in_background) return undefined;
  return openStandby(config.database_read_url, {
    ...options,
    primary: database,
    onChange: (reason) => {
      if (reason === undefined) log.info('requests with stale_ok read from the standby');
      else log.warn({ reason }, 'requests with stale_ok read from the primary');
    },
  });
}

/** Throws StartError for a folder in which this user may not write. */
export function storageOf(config: Config): Storage {
  const settings = storageSettings(config);
  try {
    return openStorage(settings);
  } catch (error) {
    throw folderFault('STORAGE_DIR', settings.folder, error);
  }
}

const RATE_WINDOW_SECONDS = 60;

function limitsOf(
  { config, database, log }: Pick<Deps, 'config' | 'database' | 'log'>,
  window_seconds = RATE_WINDOW_SECONDS,
): RateLimits {
  const limits = {
    credential: config.rate_limit_per_minute,
    lead_token: config.lead_rate_limit_per_minute,
    seller: config.seller_rate_limit_per_minute,
  };
  return rateLimits({
    counter: openRateLimitCounter({ sql: sqlOn(database.credentials), log, window_seconds }),
    limits,
    window_seconds,
  });
}
