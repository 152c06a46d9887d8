import { PrismaPg } from '@prisma/adapter-pg';
import { Pool } from 'pg';
import { statementName } from './statement';
import { PrismaClient } from '../generated/prisma/client';

export interface DatabaseOptions {
  pool_size: number;
  /** How long to wait for a connection or for a statement. */
  timeout_seconds: number;
  onIdleError?: (error: Error) => void;
}

/** One pool of connections, used by Prisma for writes and directly for prepared reads. */
export interface Database {
  url: string;
  pool: Pool;
  prisma: PrismaClient;
  close(): Promise<void>;
}

/** Opens a pool; it connects at the first use. Every session runs in UTC, or the pg adapter would store wrong instants. */
export function openDatabase(url: string, { pool_size, timeout_seconds, onIdleError = () => {} }: DatabaseOptions): Database {
  const pool = new Pool({
    connectionString: url,
    options: '-c timezone=UTC',
    max: pool_size,
    connectionTimeoutMillis: Math.min(3, timeout_seconds) * 1000,
    query_timeout: timeout_seconds * 1000,
    statement_timeout: timeout_seconds * 1000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  });
  // An idle connection that breaks must not end the process; the next use opens a new one.
  pool.on('error', onIdleError);
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, { disposeExternalPool: false, statementNameGenerator: ({ sql, args }) => (args.length > 0 ? (statementName(sql) ?? '') : '') }),
  });
  return {
    url,
    pool,
    prisma,
    close: async () => {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}
