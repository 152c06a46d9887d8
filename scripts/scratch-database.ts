import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbedded } from '../src/data/postgres/embedded-postgres';
import { withClient } from '../src/data/postgres/with-client';

/** Creates an empty database and returns its URL. */
export type CreateDatabase = (name: string) => Promise<string>;

/** Runs `work` with a new PostgreSQL server, which is removed afterwards. */
export async function withScratchServer<T>(
  work: (create: CreateDatabase) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-scratch-'));
  const server = await startEmbedded({ dataDir: folder, settings: { fsync: 'off' } });
  try {
    return await work(async (name) => {
      await runSql(server.url, `CREATE DATABASE ${name}`);
      return server.url.replace(/\/postgres$/, `/${name}`);
    });
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

export function runSql<Row = Record<string, unknown>>(url: string, text: string): Promise<Row[]> {
  return withConnection(url, async (client) => (await client.query(text)).rows as Row[]);
}

export const withConnection = <T>(url: string, work: (client: Client) => Promise<T>): Promise<T> =>
  withClient(new Client({ connectionString: url }), work);
