import { Pool } from 'pg';
import type { PrismaClient } from '../generated/prisma/client';
import { lowerPriority } from './lower-priority';
import { CountingClient, endFullConnections } from './prepared-plans';
import { openPrisma, TransactionPool } from './prisma-client';
import { sqlOn, type Sql } from './sql';
import type { BoundStatement } from './statement';

export interface DatabaseOptions {
  pool_size: number;
  /** How long to wait for a connection or for a statement. */
  timeout_seconds: number;
  /** Whether all of the work gives way to that of other processes. */
  in_background?: boolean;
  onIdleError?: (error: Error) => void;
}

/** Pools of connections, apart where one kind of work must not wait for another. */
export interface Database {
  url: string;
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

const UTC = '-c timezone=UTC';
const PLAN_ONCE = '-c plan_cache_mode=force_generic_plan';
const FAIL_ON_LOCKS = '-c lock_timeout=250ms';
/** With less, the bitmap of a large index scan names pages only, and all their rows are checked. */
const SEARCH_MEMORY = '-c work_mem=32MB';
/** A long statement ends soon after its process, and does not keep its locks. */
const CHECK_CONNECTION = '-c client_connection_check_interval=2s';

/** Most of a statement's time: a request that waits for a connection is still answered in time. */
const connectionTimeout = (timeout_ms: number): number =>
  Math.max(Math.min(6_000, timeout_ms), timeout_ms * 0.6);

const searchTimeout = (timeout_ms: number): number => Math.ceil(timeout_ms / 2);

/**
 * Opens the pools; they connect at the first use. Every session runs in UTC, which Prisma needs.
 */
export function openDatabase(
  url: string,
  { pool_size, timeout_seconds, in_background, onIdleError = () => {} }: DatabaseOptions,
): Database {
  const timeout_ms = timeout_seconds * 1000;
  const pools = openPools(url, pool_size, timeout_ms);
  for (const each of Object.values(pools)) {
    // An idle connection that breaks must not end the process; the next use opens a new one.
    each.on('error', onIdleError);
    endFullConnections(each);
    if (in_background || each === pools.bulk) lowerPriority(each);
  }
  const prisma = openPrisma(pools.pool, timeout_ms);
  return {
    url,
    ...pools,
    prisma,
    sql: sqlOn((bound) => pools[poolFor(bound)]),
    close: async () => {
      await prisma.$disconnect();
      await Promise.all(Object.values(pools).map((each) => each.end()));
    },
  };
}

/** Connections that all pools of a process have together, at most. */
export const connectionsOf = (pool_size: number): number =>
  4 * Math.ceil(pool_size / 2) + OF_CREDENTIALS + OF_BATCHES + OF_STREAMS + OF_BULK;

const [OF_CREDENTIALS, OF_BATCHES, OF_STREAMS, OF_BULK] = [2, 4, 8, 4];

function openPools(url: string, pool_size: number, timeout_ms: number) {
  const common = {
    connectionString: url,
    connectionTimeoutMillis: connectionTimeout(timeout_ms),
    keepAlive: true,
    Client: CountingClient,
  };
  const usual = {
    ...common,
    options: UTC,
    query_timeout: timeout_ms,
    statement_timeout: timeout_ms,
    idleTimeoutMillis: 60_000,
  };
  const max = Math.ceil(pool_size / 2);
  const planned = { ...usual, options: `${UTC} ${PLAN_ONCE}`, idleTimeoutMillis: 600_000 };
  const long = { ...common, options: `${UTC} ${CHECK_CONNECTION}` };
  return {
    pool: new TransactionPool({ ...usual, max }),
    prepared: new Pool({ ...planned, max }),
    searches: new Pool({
      ...usual,
      options: `${UTC} ${SEARCH_MEMORY}`,
      max,
      statement_timeout: searchTimeout(timeout_ms),
    }),
    routing: new Pool({ ...planned, max }),
    credentials: new Pool({ ...planned, max: OF_CREDENTIALS }),
    batched: new Pool({
      ...planned,
      options: `${planned.options} ${FAIL_ON_LOCKS}`,
      idleTimeoutMillis: 60_000,
      max: OF_BATCHES,
    }),
    streams: new Pool({ ...long, max: OF_STREAMS }),
    bulk: new Pool({ ...long, max: OF_BULK }),
  };
}
