import type { Pool, PoolClient } from 'pg';

/**
 * Runs the work in one transaction on a connection of the pool. A connection that breaks meanwhile
 * is not used again.
 */
export async function inTransaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
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
 * Runs a transaction again, once, when PostgreSQL ended it because of a deadlock or a write
 * conflict: it has changed nothing.
 */
export const retryOnDeadlock = <T>(run: () => Promise<T>): Promise<T> =>
  run().catch((error: unknown) => {
    if (isDeadlock(error)) return run();
    throw error;
  });

/** deadlock_detected and serialization_failure. */
const CODES = new Set(['40P01', '40001']);

interface DatabaseError {
  code?: string;
  /** Of an error of Prisma: the database's own. */
  meta?: { driverAdapterError?: { cause?: { originalCode?: string; kind?: string } } };
}

function isDeadlock(error: unknown): boolean {
  const { code = '', meta } = error as DatabaseError;
  const { originalCode = '', kind } = meta?.driverAdapterError?.cause ?? {};
  return (
    CODES.has(code) ||
    CODES.has(originalCode) ||
    code === 'P2034' ||
    kind === 'TransactionWriteConflict'
  );
}
