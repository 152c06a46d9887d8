import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { openCarrier } from './carriers';
import type { Carrier } from './carriers/carrier';
import type { Config } from './config';
import { openDatabase, type Database } from './db/client';
import { openRateLimitCounter } from './db/rate-limit-counter';
import { openAgentStreams, type AgentStreams } from './agents/streams';
import { tenants, type TenantDatabases } from './db/tenant';
import { authenticator, type Authenticator } from './http/auth/authenticator';
import { rateLimits, type RateLimits } from './http/rate-limits';
import { queue, type Queue } from './jobs/queue';
import { createLog } from './log';
import { openMailer } from './mail';
import type { Mailer } from './mail/mailer';
import { openStorage, type Storage } from './storage/directory';
import { guardedRequest, type GuardedRequest } from './egress/guarded-request';

/** Everything outside the process, and time: what the composition hands to those who need it. */
export interface Deps {
  config: Config;
  database: Database;
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
  /** Length of the windows in which requests are counted. */
  rate_window_seconds?: number;
  carrier?: Carrier;
  mailer?: Mailer;
}

export function createDeps({
  config,
  database_url,
  clock = () => new Date(),
  log = createLog(config.log_level),
  ...edges
}: DepsOptions): Deps {
  const database = openDatabase(database_url, {
    pool_size: config.pool_size,
    timeout_seconds: config.database_timeout_seconds,
    onIdleError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
  });
  const pepper = config.key_pepper ?? storedPepper(config.data_dir);
  return {
    config,
    database,
    tenants: tenants(database),
    authenticator: authenticator({
      sql: database.sql,
      pepper,
      clock,
      carrier: { auth_token: config.twilio.auth_token, public_url: config.public_url },
    }),
    limits: limitsOf({ config, database, log }, edges.rate_window_seconds),
    queue,
    live: openAgentStreams({ database, clock, log }),
    storage: openStorage(config.storage_dir, config.storage_reserve_bytes),
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

const RATE_WINDOW_SECONDS = 60;

function limitsOf(
  { config, database, log }: Pick<Deps, 'config' | 'database' | 'log'>,
  window_seconds = RATE_WINDOW_SECONDS,
): RateLimits {
  const limits = {
    credential: config.rate_limit_per_minute,
    lead_token: config.lead_rate_limit_per_minute,
  };
  return rateLimits({
    counter: openRateLimitCounter({ sql: database.sql, log, window_seconds }),
    limits,
    window_seconds,
  });
}

/**
 * The pepper of this installation, made at its first start. Losing it makes every credential
 * invalid.
 */
function storedPepper(data_dir: string): string {
  const file = join(data_dir, 'key_pepper');
  if (!existsSync(file)) {
    mkdirSync(data_dir, { recursive: true });
    try {
      writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      // Another process was first: its pepper counts.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return readFileSync(file, 'utf8').trim();
}
