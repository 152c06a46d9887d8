import type { PoolClient } from 'pg';
import type { Db } from '../../data/db';

/** How long a transaction may take before its connection is closed. */
const TIMEOUT_MS = 120_000;
const MAX_TRIES = 4;
/** deadlock_detected, serialization_failure, unique_violation: another transaction was first. */
const CONTENDED = new Set(['40P01', '40001', '23505']);

/** Returns whether to commit. `contended` is true after a conflict with another transaction. */
type Work = (client: PoolClient, contended: boolean) => Promise<boolean>;

/**
 * Runs the work in a transaction on a connection for long statements, and returns whether it was
 * committed. Retries after a conflict with another transaction, when nothing was changed. Throws
 * the reason of `signal` when it is aborted.
 */
export async function importTransaction(db: Db, signal: AbortSignal, work: Work): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      return await tryOnce(db, signal, (client) => work(client, tries > 1));
    } catch (error) {
      const { code = '' } = error as { code?: string };
      if (tries === MAX_TRIES || !CONTENDED.has(code)) throw error;
    }
  }
}

async function tryOnce(
  db: Db,
  signal: AbortSignal,
  work: (client: PoolClient) => Promise<boolean>,
): Promise<boolean> {
  signal.throwIfAborted();
  const client = await db.bulk.connect();
  const over = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  if (over.aborted) client.release();
  over.throwIfAborted();
  let isReleased = false;
  const release = (close: boolean) => {
    if (!isReleased) client.release(close);
    isReleased = true;
  };
  // Closing the connection makes the query in progress fail.
  const onAbort = () => release(true);
  over.addEventListener('abort', onAbort, { once: true });
  // A connection that breaks rejects its query; without a listener it would also end the process.
  const onError = () => undefined;
  client.on('error', onError);
  try {
    await client.query(`BEGIN; SET LOCAL statement_timeout = ${TIMEOUT_MS}`);
    const commit = await work(client);
    await client.query(commit ? 'COMMIT' : 'ROLLBACK');
    client.off('error', onError);
    release(false);
    return commit;
  } catch (error) {
    release(true);
    throw error;
  } finally {
    over.removeEventListener('abort', onAbort);
  }
}
