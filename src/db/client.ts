import { AsyncLocalStorage } from 'node:async_hooks';
import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type PoolClient } from 'pg';
import { sqlOn, type Sql } from './sql';
import { statementName } from './statement';
import { PrismaClient } from '../generated/prisma/client';

export interface DatabaseOptions {
  pool_size: number;
  /** How long to wait for a connection or for a statement. */
  timeout_seconds: number;
  onIdleError?: (error: Error) => void;
}

/** Where the connection of a transaction of Prisma's is noted. */
export interface Noted {
  client?: PoolClient;
}

const noting = new AsyncLocalStorage<Noted>();

/** Runs what opens a transaction of Prisma's, and notes its connection: statements that it need not translate go there directly, which costs the process a third. */
export const notingConnection = <T>(noted: Noted, work: () => Promise<T>): Promise<T> =>
  noting.run(noted, work);

class NotingPool extends Pool {
  override connect(): Promise<PoolClient>;
  override connect(callback: Parameters<Pool['connect']>[0]): void;
  override connect(callback?: Parameters<Pool['connect']>[0]): Promise<PoolClient> | void {
    if (callback) return super.connect(callback);
    const noted = noting.getStore();
    return super.connect().then((client) => {
      if (noted) noted.client ??= client;
      return client;
    });
  }
}

/** Pools of connections: each for what must not wait for the others, or is planned in another way. */
export interface Database {
  url: string;
  /** For Prisma, and for statements that are planned for their values. */
  pool: Pool;
  /** For prepared statements, whose best plan does not depend on values: they are planned once a connection. To plan those of routing takes longer than to run them. */
  prepared: Pool;
  /** For exports, which may take longer than a statement is otherwise given and must not take the others' connections. */
  streams: Pool;
  /** For the transactions of imports, which take seconds: neither requests nor slow readers of exports may keep them waiting. */
  bulk: Pool;
  /** For statements that do the work of several requests: they fail (55P03) rather than let all of them wait long for a row that is locked. */
  joint: Pool;
  prisma: PrismaClient;
  /** Runs a statement of `<room>/queries/` outside transactions. It may be about several companies. */
  sql: Sql;
  close(): Promise<void>;
}

/** Opens a pool; it connects at the first use. Every session runs in UTC, or the pg adapter would store wrong instants. */
export function openDatabase(
  url: string,
  { pool_size, timeout_seconds, onIdleError = () => {} }: DatabaseOptions,
): Database {
  const timeout_ms = timeout_seconds * 1000;
  const common = {
    connectionString: url,
    options: '-c timezone=UTC',
    connectionTimeoutMillis: Math.min(6_000, timeout_ms),
    keepAlive: true,
  };
  const usual = {
    ...common,
    query_timeout: timeout_ms,
    statement_timeout: timeout_ms,
    idleTimeoutMillis: 60_000,
  };
  const pool = new NotingPool({ ...usual, max: Math.ceil(pool_size / 2) });
  const once = `${common.options} -c plan_cache_mode=force_generic_plan`;
  const prepared = new Pool({
    ...usual,
    options: once,
    max: Math.ceil(pool_size / 2),
    idleTimeoutMillis: 600_000,
  });
  const joint = new Pool({ ...usual, options: `${once} -c lock_timeout=250ms`, max: 4 });
  // A statement that takes long ends soon after its process does, rather than hold its locks for nobody.
  const long = {
    ...common,
    options: `${common.options} -c client_connection_check_interval=2s`,
    max: 4,
  };
  const [streams, bulk] = [new Pool(long), new Pool(long)];
  // An idle connection that breaks must not end the process; the next use opens a new one.
  for (const each of [pool, prepared, joint, streams, bulk]) each.on('error', onIdleError);
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, {
      disposeExternalPool: false,
      statementNameGenerator: ({ sql, args }) =>
        args.length > 0 ? (statementName(sql) ?? '') : '',
    }),
  });
  return {
    url,
    pool,
    prepared,
    streams,
    bulk,
    joint,
    prisma,
    sql: sqlOn(({ name }) => (name === undefined ? pool : prepared)),
    close: async () => {
      await prisma.$disconnect();
      await Promise.all([pool, prepared, joint, streams, bulk].map((each) => each.end()));
    },
  };
}
