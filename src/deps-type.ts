import type { Logger } from 'pino';
import type { Carrier } from './carriers/carrier';
import type { Config } from './config-type';
import type { Database } from './db/client';
import type { Directory } from './db/directory';
import type { Standby } from './db/standby';
import type { TenantDatabases } from './db/tenant';
import type { GuardedRequest } from './egress/guarded-request';
import type { Live } from './events/live';
import type { Authenticator } from './http/auth/authenticator';
import type { RateLimits } from './http/rate-limits';
import type { Queue } from './jobs/queue';
import type { Mailer } from './mail/mailer';
import type { Storage } from './storage/storage';

/**
 * Everything outside the process, and the clock. Composed once, and passed to the functions that
 * need it.
 */
export interface Deps {
  config: Config;
  database: Database;
  standby: Standby | undefined;
  tenants: TenantDatabases;
  authenticator: Authenticator;
  limits: RateLimits;
  queue: Queue;
  live: Live;
  storage: Storage;
  carrier: Carrier;
  mailer: Mailer;
  /** Sends requests to URLs that customers have configured. */
  request: GuardedRequest & { close(): Promise<void> };
  pepper: string;
  clock: () => Date;
  log: Logger;
  directory: Directory;
  /**
   * The dependencies of each database of the installation: of each cell of a distributed one
   * (src/cells/), otherwise only these.
   */
  parts: () => readonly Deps[];
}
