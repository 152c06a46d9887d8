import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from, type CopyStreamQuery } from 'pg-copy-streams';
import { HostsClient } from '../db/hosts-client';
import { migrateTo, migrationNames } from '../db/migrate';
import { sqlOn } from '../db/sql';
import { continueSequence, takeConstruction } from '../db/whole-tables';
import { withClient } from '../db/with-client';
import { markOf } from '../installation/storage-mark';
import { prepareQueue } from '../jobs/queue';
import { StartError } from '../start-error';
import type { Storage } from '../storage/storage';
import { readArchive, type Entry } from './archive';
import { listMigrations } from './list-migrations';
import {
  JOBS,
  keyOf,
  PEPPER,
  readJson,
  readManifest,
  tableOf,
  TOTALS,
  type Manifest,
  type Totals,
} from './manifest';
import {
  addJobs,
  copyIn,
  FORGET_SETTINGS,
  FORGET_STORAGE,
  HAS_TABLES,
  IS_USED,
  MAKE_JOBS,
} from './queries/load';

/** Where an installation is restored. */
export interface Target {
  /** The URL of an empty database, where a connection has a session of its own. */
  session_url: string;
  storage: Storage;
  /** Keeps the pepper, or throws if there is another one already. */
  keepPepper(pepper: string): void;
}

export interface Restored {
  taken_at: string;
  /** Of Trunkline, when the backup was made. */
  version: string;
  rows: number;
  files: number;
}

/**
 * Restores a backup into an empty database: with the migrations that it had, all or nothing. What
 * this version has more is for the caller to apply. May be repeated until it has succeeded.
 */
export async function restore(file: string, target: Target): Promise<Restored> {
  const entries = readArchive(file);
  const manifest = await readManifest((await entries.next()).value as Entry | undefined, file);
  const newer = manifest.migrations.filter((name) => !migrationNames().includes(name));
  if (newer.length > 0)
    throw new StartError(
      `${file} was made by a newer version of Trunkline, ${manifest.version}: restore it with ` +
        'that one.',
    );
  const client = new HostsClient({
    connectionString: target.session_url,
    options: '-c timezone=UTC -c statement_timeout=0 -c idle_in_transaction_session_timeout=0',
  });
  return withClient(client, async () => {
    await requireEmpty(client, manifest);
    await migrateTo(target.session_url, manifest.migrations);
    await prepareQueue(target.session_url);
    await client.query('BEGIN');
    const totals = await loadAll({ client, manifest, target, file }, entries);
    await client.query('COMMIT');
    const rows = Object.values(totals.rows).reduce((sum, count) => sum + count, 0);
    const { taken_at, version } = manifest;
    return { taken_at, version, rows, files: totals.files };
  });
}

/** Throws unless the database has no tables, or those of an earlier try to restore the backup. */
async function requireEmpty(client: Client, { migrations }: Manifest): Promise<void> {
  const sql = sqlOn(client);
  const [found] = await sql(HAS_TABLES, {});
  if (!found!.has_any) return;
  if (found!.has_ours) {
    const [{ is_used } = { is_used: true }] = await sql(IS_USED, {});
    const others = (await listMigrations(sql)).filter((name) => !migrations.includes(name));
    if (!is_used && others.length === 0) return;
  }
  throw new StartError(
    'The database is not empty: restore into another one, by DATABASE_URL or DATA_DIR.',
  );
}

interface Load {
  client: Client;
  manifest: Manifest;
  target: Target;
  file: string;
}

/** Loads what follows the manifest, in a transaction. Throws unless it is complete. */
async function loadAll(load: Load, entries: AsyncGenerator<Entry>): Promise<Totals> {
  const { client, manifest, target, file } = load;
  const sql = sqlOn(client);
  const construct = await takeConstruction(client, 'public');
  await client.query(MAKE_JOBS);
  const found: Totals = { rows: {}, files: 0, missing_files: [] };
  let totals: Totals | undefined;
  let filling: Filling | undefined;
  for await (const { name, stream } of entries) {
    const table = tableOf(name);
    if (table !== filling?.table) await filling?.end(found.rows);
    if (table !== undefined) {
      if (table !== filling?.table) filling = fill(load, table);
      await filling!.add(stream);
      continue;
    }
    filling = undefined;
    const key = keyOf(name);
    if (key !== undefined) {
      await keepFile(target.storage, key, stream);
      found.files++;
    } else if (name === PEPPER) target.keepPepper(await text(stream));
    else if (name === TOTALS) totals = await readJson<Totals>(stream);
  }
  requireAll(file, found, totals);
  await client.query(addJobs(manifest.columns[JOBS]!));
  await construct();
  for (const [name, value] of Object.entries(manifest.sequences))
    await continueSequence(sql, `public.${name}`, value);
  await settle(client, target.storage);
  return totals!;
}

/** A table that is being filled from several entries. */
interface Filling {
  table: string;
  add(stream: Readable): Promise<void>;
  /** Ends it, and notes how many rows there were. */
  end(rows: Totals['rows']): Promise<void>;
}

function fill({ client, manifest }: Load, table: string): Filling {
  const target = table === JOBS ? 'backup_jobs' : table;
  const sink: CopyStreamQuery = client.query(from(copyIn(target, manifest.columns[table]!)));
  const done = new Promise<void>((resolve, reject) => {
    sink.once('finish', resolve).once('error', reject);
  });
  done.catch(() => undefined);
  return {
    table,
    add: async (stream) => {
      for await (const chunk of stream)
        if (!sink.write(chunk)) await Promise.race([once(sink, 'drain'), done]);
    },
    async end(rows) {
      sink.end();
      await done;
      rows[table] = sink.rowCount;
    },
  };
}

/** Stores an uploaded file, unless an earlier try has done so. */
async function keepFile(storage: Storage, key: string, stream: Readable): Promise<void> {
  const draft = join(storage.incoming, randomUUID());
  try {
    await pipeline(stream, createWriteStream(draft));
    await storage.remove(key);
    await storage.keep(draft, key);
  } finally {
    await rm(draft, { force: true });
  }
}

function requireAll(file: string, found: Totals, totals: Totals | undefined): void {
  const wrong = Object.entries(totals?.rows ?? {}).filter(
    ([table, rows]) => (found.rows[table] ?? 0) !== rows,
  );
  if (!totals || wrong.length > 0 || found.files !== totals.files)
    throw new StartError(`${file} is no complete backup; nothing was restored.`);
}

/** Makes the installation one whose processes and storage are those that it is restored beside. */
async function settle(client: Client, storage: Storage): Promise<void> {
  const sql = sqlOn(client);
  const [installation] = await sql(FORGET_SETTINGS, {});
  const mark = await markOf(storage);
  if (mark === undefined) await sql(FORGET_STORAGE, {});
  else if (mark !== installation?.storage_id)
    throw new StartError(
      'The storage of files, STORAGE_DIR or S3_BUCKET, belongs to another installation: name an ' +
        'empty one, or that of this installation.',
    );
}
