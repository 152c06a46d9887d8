import type { Pool, PoolClient } from 'pg';

/** Runs the work in one transaction on a connection of the pool. A connection that breaks meanwhile is not used again. */
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
