import type { Logger } from 'pino';
import type { Carrier } from '../platform/carriers/carrier';
import type { Config } from '../platform/config';
import type { Database } from '../data/client';
import type { Directory } from '../data/directory';
import type { Standby } from '../data/postgres/standby';
import type { TenantDatabases } from '../data/tenant';
import type { GuardedRequest } from '../platform/egress/guarded-request';
import type { Live } from './events/live';
import type { Authenticator } from '../api/auth/authenticator';
import type { RateLimits } from '../api/rate-limits';
import type { Queue } from '../data/jobs/queue';
import type { Mailer } from '../platform/mail/mailer';
import type { Storage } from '../platform/storage/storage';

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
   * (src/operate/cells/), otherwise only these.
   */
  parts: () => readonly Deps[];
}
