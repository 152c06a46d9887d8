import { setTimeout } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';

/**
 * Runs the work in one transaction on a connection of the pool, and again as a whole after a
 * deadlock. A connection that breaks meanwhile is not used again.
 */
export const runInTransaction = <T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> => retryOnDeadlock(() => runTransaction(pool, work));

async function runTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // The pool listens only to idle connections.
  const onError = (error: Error) => void (broken = error);
  client.on('error', onError);
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((fault: Error) => void (broken ??= fault));
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

/**
 * Retries of a transaction that meets deadlocks. By then the other transactions of the cycle have
 * finished.
 */
const MAX_RETRIES = 5;
const LONGEST_PAUSE_MS = 20;

/**
 * Runs a transaction again if PostgreSQL ended it because of a deadlock or a write conflict: it has
 * changed nothing.
 */
export async function retryOnDeadlock<T>(run: () => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await run();
    } catch (error) {
      if (retries === MAX_RETRIES || !isDeadlock(error)) throw error;
    }
    // A random pause, so that the transactions that met do not all return at the same moment.
    await setTimeout(Math.random() * LONGEST_PAUSE_MS);
  }
}

/**
 * Makes a pool retry a statement that PostgreSQL ended because of a deadlock: outside of a
 * transaction, each statement is one by itself.
 */
export function retryStatements(pool: Pool): void {
  const query = pool.query.bind(pool) as (...args: unknown[]) => unknown;
  pool.query = ((...args: unknown[]) =>
    typeof args.at(-1) === 'function'
      ? query(...args)
      : retryOnDeadlock(async () => query(...args))) as Pool['query'];
}

/** deadlock_detected and serialization_failure. */
const DEADLOCK_CODES = new Set(['40P01', '40001']);

interface DatabaseError {
  code?: string;
  /** On errors of Prisma: the error of the database. */
  meta?: { driverAdapterError?: { cause?: { originalCode?: string; kind?: string } } };
}

export function isDeadlock(error: unknown): boolean {
  const { code = '', meta } = error as DatabaseError;
  const { originalCode = '', kind } = meta?.driverAdapterError?.cause ?? {};
  return (
    DEADLOCK_CODES.has(code) ||
    DEADLOCK_CODES.has(originalCode) ||
    code === 'P2034' ||
    kind === 'TransactionWriteConflict'
  );
}
