import type { Pool, PoolClient, QueryConfig } from 'pg';
import { HostsClient } from './hosts-client';
import { isComposed } from './statement';

/** Composed statements that a connection prepares before another one takes its place. */
const MAX_COMPOSED = 800;

/** A connection that knows how many composed statements it has prepared. */
export class CountingClient extends HostsClient {
  readonly composed = new Set<string>();

  override query(...args: unknown[]): never {
    const { name } = args[0] as Partial<QueryConfig>;
    if (name !== undefined && isComposed(name)) this.composed.add(name);
    return (super.query as (...args: unknown[]) => unknown)(...args) as never;
  }
}

/**
 * Plans take memory until a connection ends: one that has too many is not used again. Nor is one
 * whose server takes no writes any more.
 */
export function endSpentConnections(pool: Pool): void {
  pool.on('release', (_error, released: PoolClient) => {
    const connection = released as unknown as CountingClient;
    // The pool drops a connection that is ending.
    if (connection.composed.size > MAX_COMPOSED || connection.is_read_only) void connection.end();
  });
}
