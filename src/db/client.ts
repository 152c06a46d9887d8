import { Pool } from 'pg';
import type { PrismaClient } from '../generated/prisma/client';
import { batchesAtOnce } from './batcher';
import { lowerPriority } from './lower-priority';
import { inPool, watchHosts } from './hosts-client';
import { CountingClient, endSpentConnections } from './prepared-plans';
import { openPrisma, TransactionPool } from './prisma-client';
import { longSession, pooledSession, pooledSettings, type Pooled } from './session-settings';
import { sqlOn, type Sql } from './sql';
import type { BoundStatement } from './statement';
import { retryStatements } from './transaction';

export interface DatabaseOptions {
  /** Names it for what the process caches, where its URL is not enough. */
  name?: string | undefined;
  pool_size: number;
  /** How long to wait for a connection or for a statement. */
  timeout_seconds: number;
  /** Processes that answer requests and share the database. */
  processes?: number;
  /** PostgreSQL itself, where the URL is that of a pooler. */
  direct_url?: string | undefined;
  /** Where tables and functions are looked up, instead of `public`; new ones are in the first. */
  schemas?: readonly string[] | undefined;
  /** Whether all of the work gives way to that of other processes. */
  in_background?: boolean;
  onIdleError?: (error: Error) => void;
}

/** Pools of connections, apart where one kind of work must not wait for another. */
export interface Database {
  url: string;
  /** Names the database for what the process caches. */
  name: string;
  /** Where a connection has a session of its own, for LISTEN and locks: never a pooler. */
  session_url: string;
  /** For Prisma, and for statements that are planned for their values. */
  pool: Pool;
  /**
   * For prepared statements, whose best plan does not depend on their values: they are planned once
   * a connection. Planning the statements of routing takes longer than running them.
   */
  prepared: Pool;
  /**
   * For lists, searches and reports that are planned for their values: what they read depends on
   * what is asked for, so they may take only half of the time of other statements.
   */
  searches: Pool;
  /** The same as `prepared` for the requests that route calls: no other request takes them. */
  routing: Pool;
  /** The same for credentials and rate limits, which every request needs first. */
  credentials: Pool;
  /** For exports, which take longer than other statements may. */
  streams: Pool;
  /** For the transactions of imports, which take seconds. */
  bulk: Pool;
  /**
   * For statements that do the work of several requests: they fail (55P03) instead of letting all
   * of these wait long for a locked row. Also for what is recorded outside of a transaction that
   * is open at the same time.
   */
  batched: Pool;
  /** How many batches that lock shared rows may run at once for one kind of work of a company. */
  batches_at_once: number;
  prisma: PrismaClient;
  /**
   * Runs a statement of `<room>/queries/` outside of transactions. It may be about any companies.
   */
  sql: Sql;
  close(): Promise<void>;
}

type PoolName = 'pool' | 'prepared' | 'searches';

/** The pool that a statement belongs to, unless the request has others. */
export const poolFor = ({ kind }: BoundStatement): PoolName => {
  if (kind === 'search') return 'searches';
  return kind === 'prepared' ? 'prepared' : 'pool';
};

/** Most of a statement's time: a request that waits for a connection is still answered in time. */
const connectionTimeout = (timeout_ms: number): number =>
  Math.max(Math.min(6_000, timeout_ms), timeout_ms * 0.6);

/**
 * Opens the pools; they connect at the first use. Every session runs in UTC, which Prisma needs.
 */
export function openDatabase(
  url: string,
  {
    name = url,
    pool_size,
    timeout_seconds,
    processes = 1,
    direct_url,
    schemas,
    in_background,
    onIdleError = () => {},
  }: DatabaseOptions,
): Database {
  const timeout_ms = timeout_seconds * 1000;
  const pools = openPools({ url, direct_url, schemas, pool_size, timeout_ms });
  for (const each of Object.values(pools)) {
    // An idle connection that breaks must not end the process; the next use opens a new one.
    each.on('error', onIdleError);
    endSpentConnections(each);
    retryStatements(each);
    if (in_background || each === pools.bulk) lowerPriority(each);
  }
  const prisma = openPrisma(pools.pool, timeout_ms, schemas?.[0]);
  const closing = new AbortController();
  const watching = watchHosts(url, closing.signal);
  return {
    url,
    name,
    session_url: direct_url ?? url,
    ...pools,
    batches_at_once: batchesAtOnce(processes),
    prisma,
    sql: sqlOn((bound) => pools[poolFor(bound)]),
    close: async () => {
      closing.abort();
      await watching;
      await prisma.$disconnect();
      await Promise.all(Object.values(pools).map((each) => each.end()));
    },
  };
}

/** Connections that all pools of a process have together, at most. */
export const connectionsOf = (pool_size: number): number =>
  4 * Math.ceil(pool_size / 2) + OF_CREDENTIALS + OF_BATCHES + OF_STREAMS + OF_BULK;

const [OF_CREDENTIALS, OF_BATCHES, OF_STREAMS, OF_BULK] = [2, 4, 8, 6];

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
    Client: inPool(CountingClient),
  };
  const max = Math.ceil(pool_size / 2);
  const of = (name: Pooled, idleTimeoutMillis = 60_000) => ({
    ...common,
    ...pooledSession(servers, name, settings[name]),
    query_timeout: timeout_ms,
    idleTimeoutMillis,
    max,
  });
  /** Their plans are worth keeping. */
  const planned = (name: Pooled) => of(name, 600_000);
  const long = { ...common, ...longSession(servers) };
  return {
    pool: new TransactionPool(of('pool')),
    prepared: new Pool(planned('prepared')),
    searches: new Pool(of('searches')),
    routing: new Pool(planned('routing')),
    credentials: new Pool({ ...planned('credentials'), max: OF_CREDENTIALS }),
    batched: new Pool({ ...of('batched'), max: OF_BATCHES }),
    streams: new Pool({ ...long, max: OF_STREAMS }),
    bulk: new Pool({ ...long, max: OF_BULK }),
  };
}
