import type { Logger } from 'pino';
import { openCarrier } from '../../platform/carriers';
import type { Carrier } from '../../platform/carriers/carrier';
import { listSignatureChecks } from '../../platform/carriers/signature-checks';
import type { Config } from '../../platform/config';
import { openDatabase, type DatabaseOptions } from '../../data/client';
import {
  openRateLimitCounter,
  type RateLimitCounter,
} from '../../data/rate-limits/rate-limit-counter';
import { openLive } from '../../domain/events/live';
import { createSingleDirectory } from '../../data/directory';
import { sqlOn } from '../../data/sql';
import { openStandby, type Standby } from '../../data/postgres/standby';
import { tenants } from '../../data/tenant';
import { authenticator } from '../../api/auth/authenticator';
import { rateLimits, type RateLimits } from '../../api/rate-limits';
import { queue } from '../../data/jobs/queue';
import type { Deps } from '../../domain/deps';
import { createLog } from '../../platform/log';
import { openMailer } from '../../platform/mail';
import type { Mailer } from '../../platform/mail/mailer';
import { openStorage } from '../../platform/storage/open';
import type { Storage, StorageSettings } from '../../platform/storage/storage';
import { createGuardedRequest } from '../../platform/egress/guarded-request';
import { folderFault } from '../../platform/start-error';

export interface DepsOptions {
  config: Config;
  database_url: string;
  clock?: () => Date;
  log?: Logger;
  /** Absent: KEY_PEPPER. */
  pepper?: string;
  /** The mark that the folder of files must have, if it has been given one. */
  storage_mark?: string | undefined;
  rate_window_seconds?: number;
  carrier?: Carrier;
  mailer?: Mailer;
  /** For a process that answers no requests: its database sessions yield to those that do. */
  in_background?: boolean;
}

export type SharedDeps = Omit<
  Deps,
  'database' | 'standby' | 'tenants' | 'authenticator' | 'limits' | 'live' | 'directory' | 'parts'
>;

export function createDeps(options: DepsOptions): Deps {
  const shared = sharedDeps(options);
  const database = openDatabase(options.database_url, {
    ...databaseOptions(shared, options),
    direct_url: shared.config.database_direct_url,
  });
  const directory = createSingleDirectory(sqlOn(database.credentials));
  const deps: Deps = {
    ...shared,
    ...buildDatabaseDeps(shared, { database, directory }, options),
    standby: openReadStandby({ ...shared, database }, databaseOptions(shared, options)),
    parts: () => [deps],
  };
  return deps;
}

export function sharedDeps({
  config,
  clock = () => new Date(),
  log = createLog(config.log_level),
  pepper = config.key_pepper,
  storage_mark,
  ...edges
}: DepsOptions): SharedDeps {
  if (pepper === undefined) throw new Error('a pepper is needed');
  return {
    config,
    queue,
    storage: openConfiguredStorage(config, storage_mark),
    carrier:
      edges.carrier ??
      openCarrier(config.carrier, {
        ...config.twilio,
        jambonz: config.jambonz,
        public_url: config.public_url,
      }),
    mailer:
      edges.mailer ??
      (config.smtp_url ? openMailer('smtp', { url: config.smtp_url }) : openMailer('sandbox')),
    request: createGuardedRequest({ allow_networks: config.webhook_allow_networks }),
    pepper,
    clock,
    log,
  };
}

export const databaseOptions = (
  { config, log }: SharedDeps,
  { in_background = false }: Pick<DepsOptions, 'in_background'>,
): DatabaseOptions => ({
  pool_size: config.pool_size,
  timeout_seconds: config.database_timeout_seconds,
  in_background,
  onIdleError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
});

export function buildDatabaseDeps(
  { config, pepper, clock, log }: SharedDeps,
  { database, directory }: Pick<Deps, 'database' | 'directory'>,
  { rate_window_seconds }: Pick<DepsOptions, 'rate_window_seconds'>,
): Pick<Deps, 'database' | 'directory' | 'tenants' | 'authenticator' | 'limits' | 'live'> {
  const carrier = {
    signature_checks: listSignatureChecks(config),
    public_url: config.public_url,
  };
  return {
    database,
    directory,
    tenants: tenants(database, directory),
    authenticator: authenticator({
      directory,
      pepper,
      clock,
      carrier,
      session_idle_hours: config.session_idle_hours,
    }),
    limits: buildRateLimits(
      config,
      buildRateLimitCounter({ database, log }, rate_window_seconds),
      rate_window_seconds,
    ),
    live: openLive({ database, clock, log, max_connections: config.max_connections }),
  };
}

/** Call it once nothing uses the dependencies any more. */
export async function closeDeps(deps: Deps): Promise<void> {
  const { mailer, request, limits, standby, database } = deps;
  mailer.close();
  await request.close();
  await limits.close();
  await standby?.close();
  const databases = new Set([database, ...deps.parts().map((part) => part.database)]);
  await Promise.all([...databases].map((item) => item.close()));
}

export const storageSettings = (config: Config): StorageSettings => ({
  folder: config.storage_dir,
  reserve_bytes: config.storage_reserve_bytes,
  s3: config.s3,
});

/** Undefined in the background: only requests read from the standby. */
function openReadStandby(
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
export function openConfiguredStorage(config: Config, mark?: string): Storage {
  const settings = { ...storageSettings(config), ...(!config.s3 && { mark }) };
  try {
    return openStorage(settings);
  } catch (error) {
    throw folderFault('STORAGE_DIR', settings.folder, error);
  }
}

const RATE_WINDOW_SECONDS = 60;

export const buildRateLimitCounter = (
  { database, log }: Pick<Deps, 'database' | 'log'>,
  windowSeconds = RATE_WINDOW_SECONDS,
): RateLimitCounter =>
  openRateLimitCounter({ sql: sqlOn(database.credentials), log, window_seconds: windowSeconds });

export function buildRateLimits(
  config: Config,
  counter: RateLimitCounter,
  windowSeconds = RATE_WINDOW_SECONDS,
): RateLimits {
  const limits = {
    credential: config.rate_limit_per_minute,
    lead_token: config.lead_rate_limit_per_minute,
    seller: config.seller_rate_limit_per_minute,
  };
  return rateLimits({ counter, limits, window_seconds: windowSeconds });
}
