import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbedded } from '../src/db/embedded-postgres';

/** A PostgreSQL that lasts as long as the work: `create` makes an empty database on it and answers its URL. */
export async function withScratchServer<T>(
  work: (create: (name: string) => Promise<string>) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-scratch-'));
  const server = await startEmbedded({ dataDir: folder, settings: { fsync: 'off' } });
  try {
    return await work(async (name) => {
      await run(server.url, `CREATE DATABASE ${name}`);
      return server.url.replace(/\/postgres$/, `/${name}`);
    });
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs SQL on a connection of its own and answers the rows. */
export async function run<Row = Record<string, unknown>>(
  url: string,
  text: string,
): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as Row[];
  } finally {
    await client.end();
  }
}
