import pg, { type PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { beginExport } from '../../data/exports';
import type { BoundStatement } from '../../data/statement';
import type { Db } from '../../data/db';
import { Csv } from '../reply/reply';

/** How long an export may take in all, however much of it is read each minute. */
const MAX_EXPORT_MS = 3_600_000;

const ignore = (): void => undefined;

/**
 * The rows of a statement as CSV, streamed as PostgreSQL produces them. Throws 429 for more exports
 * than a company may run.
 */
export async function copyOut(db: Db, statement: BoundStatement, name: string): Promise<Csv> {
  const end = beginExport(db.key);
  const client = await acquireConnection(db).catch((error: unknown) => {
    end();
    throw error;
  });
  // The pool listens only to idle connections: an error of this one without a listener would end
  // the process. The stream fails with it.
  client.on('error', ignore);
  const stream = client.query(copyTo(`COPY (${inline(statement)}) TO STDOUT (FORMAT csv, HEADER)`));
  // A statement that fails does not close the stream by itself. When a client disconnects, the
  // stream is destroyed, and its connection emits an error once more.
  stream.on('error', () => stream.destroy());
  const timeout = setTimeout(() => stream.destroy(), MAX_EXPORT_MS).unref();
  stream.once('close', () => {
    clearTimeout(timeout);
    end();
    // A connection that was stopped in the middle of a COPY cannot be used again.
    client.release(!stream.readableEnded);
    client.off('error', ignore);
  });
  return new Csv(stream, `${name}.csv`);
}

/** A standby that cannot be reached is replaced by the primary. */
async function acquireConnection({ streams, stale }: Db): Promise<PoolClient> {
  if (!stale?.read) return streams.connect();
  const client = await streams.connect().catch(() => undefined);
  if (!client) return stale.primary.streams.connect();
  stale.read();
  return client;
}

/** COPY takes no parameters: the values are put into the text, quoted by the driver. */
function inline({ text, values }: BoundStatement): string {
  return text.replace(/\$(\d+)\b/g, (_, n: string) => {
    const value = values[Number(n) - 1];
    if (value === null || value === undefined) return 'NULL';
    return pg.escapeLiteral(Array.isArray(value) ? `{${value.join(',')}}` : String(value));
  });
}
