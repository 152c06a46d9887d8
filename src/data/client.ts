import { Pool, type PoolClient, type QueryConfig } from 'pg';
import type { PrismaClient } from '../generated/prisma/client';
import { lowerPriority } from './postgres/lower-priority';
import { toPoolClient, watchHosts, HostsClient } from './postgres/hosts-client';
import { openPrisma, TransactionPool } from './prisma-client';
import {
  longSession,
  pooledSession,
  pooledSettings,
  type Pooled,
} from './postgres/session-settings';
import { sqlOn, type Sql } from './sql';
import { type BoundStatement, isComposed } from './statement';
import { retryStatements } from './transaction';

export interface DatabaseOptions {
  /** Identifies the database in caches of the process, if its URL is not enough. */
  name?: string | undefined;
  pool_size: number;
  /** How long to wait for a connection or for a statement. */
  timeout_seconds: number;
  /** PostgreSQL itself, if the URL is that of a pooler. */
  direct_url?: string | undefined;
  /**
   * Schemas in which tables and functions are looked up, instead of `public`; new ones are created
   * in the first.
   */
  schemas?: readonly string[] | undefined;
  /** True if all of its work yields to that of other processes. */
  in_background?: boolean;
  onIdleError?: (error: Error) => void;
}

/** Pools of connections, separate where one kind of work must not wait for another. */
export interface Database {
  url: string;
  name: string;
  /** For connections with a session of their own, for LISTEN and locks: never a pooler. */
  session_url: string;
  /** For Prisma, and for statements that are planned for their values. */
  pool: Pool;
  /**
   * For prepared statements, whose best plan does not depend on their values: they are planned once
   * per connection. Planning the statements of routing takes longer than running them.
   */
  prepared: Pool;
  /**
   * For lists, searches and reports, which are planned for their values: how much they read depends
   * on the request, so they get only half of the time of other statements.
   */
  searches: Pool;
  /**
   * For prepared statements of requests that route calls: no other request uses these connections.
   */
  routing: Pool;
  /** For prepared statements about credentials and rate limits, which every request needs first. */
  credentials: Pool;
  /** For exports, which take longer than other statements may. */
  streams: Pool;
  /** For the transactions of imports, which take seconds. */
  bulk: Pool;
  /**
   * For statements that do the work of several requests: they fail (55P03) instead of letting all
   * of these wait long for a locked row. Also for records that are written outside of a transaction
   * that is open at the same time.
   */
  batched: Pool;
  prisma: PrismaClient;
  /** How long requests that route calls wait for others in all; a switch does not wait longer. */
  max_call_wait_ms: number;
  /** Runs a statement of `<room>/queries/` outside of transactions, for any companies. */
  sql: Sql;
  close(): Promise<void>;
}

type PoolName = 'pool' | 'prepared' | 'searches';

/** The pool of a statement, unless the request uses others. */
export const choosePool = ({ kind }: BoundStatement): PoolName => {
  if (kind === 'search') return 'searches';
  return kind === 'prepared' ? 'prepared' : 'pool';
};

/**
 * Less than a statement's time, so that a request that waits for a connection is answered in time.
 */
const connectionTimeout = (timeoutMs: number): number =>
  Math.max(Math.min(6_000, timeoutMs), timeoutMs * 0.6);

/**
 * Opens the pools; they connect at the first use. Every session runs in UTC, which Prisma needs.
 */
export function openDatabase(
  url: string,
  {
    name = url,
    pool_size,
    timeout_seconds,
    direct_url,
    schemas,
    in_background,
    onIdleError = () => {},
  }: DatabaseOptions,
): Database {
  const timeoutMs = timeout_seconds * 1000;
  const pools = openPools({ url, direct_url, schemas, pool_size, timeout_ms: timeoutMs });
  for (const pool of Object.values(pools)) {
    // An idle connection that breaks must not end the process; the next use opens a new one.
    pool.on('error', onIdleError);
    endSpentConnections(pool);
    retryStatements(pool);
    if (in_background || pool === pools.bulk) lowerPriority(pool);
  }
  const prisma = openPrisma(pools.pool, timeoutMs, schemas?.[0]);
  const closing = new AbortController();
  const watching = watchHosts(url, closing.signal);
  return {
    url,
    name,
    session_url: direct_url ?? url,
    ...pools,
    prisma,
    max_call_wait_ms: timeoutMs / 5,
    sql: sqlOn((bound) => pools[choosePool(bound)]),
    close: async () => {
      closing.abort();
      await watching;
      await prisma.$disconnect();
      await Promise.all(Object.values(pools).map((pool) => pool.end()));
    },
  };
}

/** Maximum of connections that all pools of a process have together. */
export const countConnections = (poolSize: number): number =>
  4 * Math.ceil(poolSize / 2) +
  CREDENTIAL_CONNECTIONS +
  BATCH_CONNECTIONS +
  STREAM_CONNECTIONS +
  BULK_CONNECTIONS;

const [CREDENTIAL_CONNECTIONS, BATCH_CONNECTIONS, STREAM_CONNECTIONS, BULK_CONNECTIONS] = [
  2, 4, 8, 6,
];

interface PoolOptions {
  url: string;
  direct_url: string | undefined;
  schemas: readonly string[] | undefined;
  pool_size: number;
  timeout_ms: number;
}

function openPools({ pool_size, timeout_ms, ...servers }: PoolOptions) {
  const settings = pooledSettings(timeout_ms);
  const common = {
    connectionTimeoutMillis: connectionTimeout(timeout_ms),
    keepAlive: true,
    Client: toPoolClient(CountingClient),
  };
  const max = Math.ceil(pool_size / 2);
  const of = (name: Pooled, idleTimeoutMillis = 60_000) => ({
    ...common,
    ...pooledSession(servers, name, settings[name]),
    query_timeout: timeout_ms,
    idleTimeoutMillis,
    max,
  });
  /** Idle connections stay longer, because their plans are worth keeping. */
  const planned = (name: Pooled) => of(name, 600_000);
  const long = { ...common, ...longSession(servers) };
  return {
    pool: new TransactionPool(of('pool')),
    prepared: new Pool(planned('prepared')),
    searches: new Pool(of('searches')),
    routing: new Pool(planned('routing')),
    credentials: new Pool({ ...planned('credentials'), max: CREDENTIAL_CONNECTIONS }),
    batched: new Pool({ ...of('batched'), max: BATCH_CONNECTIONS }),
    streams: new Pool({ ...long, max: STREAM_CONNECTIONS }),
    bulk: new Pool({ ...long, max: BULK_CONNECTIONS }),
  };
}

/** Composed statements that a connection may prepare before it is replaced. */
const MAX_COMPOSED = 800;

class CountingClient extends HostsClient {
  readonly composed = new Set<string>();

  override query(...args: unknown[]): never {
    const { name } = args[0] as Partial<QueryConfig>;
    if (name !== undefined && isComposed(name)) this.composed.add(name);
    return (super.query as (...args: unknown[]) => unknown)(...args) as never;
  }
}

/**
 * Plans take memory until a connection ends: a connection with too many is not used again, nor one
 * whose server takes no writes any more.
 */
function endSpentConnections(pool: Pool): void {
  pool.on('release', (_error, released: PoolClient) => {
    const connection = released as unknown as CountingClient;
    // The pool drops a connection that is ending.
    if (connection.composed.size > MAX_COMPOSED || connection.is_read_only) void connection.end();
  });
}
