import type { Pool, PoolClient, QueryConfig } from 'pg';
import { HostsClient } from './postgres/hosts-client';
import { isComposed } from './statement';

/** Composed statements that a connection may prepare before it is replaced. */
const MAX_COMPOSED = 800;

export class CountingClient extends HostsClient {
  readonly composed = new Set<string>();

  override query(...args: unknown[]): never {
    const { name } = args[0] as Partial<QueryConfig>;
    if (name !== undefined && isComposed(name)) this.composed.add(name);
    return (super.query as (...args: unknown[]) => unknown)(...args) as never;
  }
}

/**
 * Plans take memory until a connection ends: a connection with too many is not used again, nor one
 * whose server takes no writes any more.
 */
export function endSpentConnections(pool: Pool): void {
  pool.on('release', (_error, released: PoolClient) => {
    const connection = released as unknown as CountingClient;
    // The pool drops a connection that is ending.
    if (connection.composed.size > MAX_COMPOSED || connection.is_read_only) void connection.end();
  });
}
