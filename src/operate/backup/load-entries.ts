import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from, type CopyStreamQuery } from 'pg-copy-streams';
import { sqlOn } from '../../data/sql';
import { continueSequence, dropConstraints } from '../../data/postgres/whole-tables';
import { readMark } from '../installation/storage-mark';
import { listStoredFiles } from '../installation/stored-files';
import { StartError } from '../../platform/start-error';
import { isFileKey } from '../../platform/storage/keys';
import { createNewFile } from '../../platform/storage/new-file';
import type { Storage } from '../../platform/storage/storage';
import { refuseEntry, type Entry } from './archive';
import { TASK_NAMES } from '../../data/jobs/tasks';
import { JOBS, PEPPER, readFileName, readPieceName, TOTALS, type Totals } from './manifest';
import type { MatchedSchema, MatchedTable } from './match-schema';
import { addJobs, copyIn, FORGET_SETTINGS, FORGET_STORAGE, MAKE_JOBS } from './queries/load';
import { readPepper, readTotals } from './read-manifest';

// Loads the entries of an archive after the manifest. The archive may have been written by anyone:
// an unexpected entry is refused, and with it the whole archive.

export interface Target {
  /** URL of an empty database, for a connection with a session of its own. */
  session_url: string;
  storage: Storage;
  /** Keeps the pepper; throws if there is already another one. */
  keepPepper(pepper: string): void;
}

interface Load {
  client: Client;
  schema: MatchedSchema;
  target: Target;
  file: string;
}

/** The part of an archive that was read so far. */
interface Progress {
  pepper?: string;
  rows: Map<string, number>;
  filling?: TableLoad;
  /**
   * Set once all tables are filled: keys of files that rows refer to and that have not been read
   * yet.
   */
  keys?: Set<string>;
  files: number;
  totals?: Totals;
}

/** Loads the entries after the manifest, in a transaction. Throws unless they are complete. */
export async function loadAll(load: Load, entries: AsyncGenerator<Entry>): Promise<Totals> {
  const { client, schema, target, file } = load;
  const sql = sqlOn(client);
  const construct = await dropConstraints(client, 'public');
  await client.query(MAKE_JOBS);
  const progress: Progress = { rows: new Map(), files: 0 };
  for await (const entry of entries) await loadEntry(load, progress, entry);
  const { totals, pepper } = requireAll(file, progress);
  const jobs = schema.tables.get(JOBS);
  if (jobs) await client.query(addJobs(jobs.columns), [TASK_NAMES]);
  await construct();
  for (const { name, value } of schema.sequences) await continueSequence(sql, name, value);
  // Last, so that another backup can be restored after a failure: no pepper has been kept then.
  target.keepPepper(pepper);
  return totals;
}

async function loadEntry(load: Load, progress: Progress, entry: Entry): Promise<void> {
  const { file } = load;
  const { name } = entry;
  if (progress.totals) throw refuseEntry(file, name, 'comes after the end');
  const piece = readPieceName(name);
  if (piece) return loadPiece(load, progress, { ...piece, entry });
  await endTable(progress);
  const key = readFileName(name);
  if (key !== undefined) return loadFile(load, progress, { key, entry });
  if (name === PEPPER && progress.pepper === undefined && progress.rows.size === 0)
    progress.pepper = await readPepper(entry, file);
  else if (name === TOTALS) {
    await endTables(load, progress);
    progress.totals = await readTotals(entry, file);
  } else throw refuseEntry(file, name, 'is not one that a backup has there');
}

/** A table that several entries fill. */
interface TableLoad {
  table: string;
  pieces: number;
  add(stream: Readable): Promise<void>;
  /** Ends it, and returns the number of rows. */
  end(): Promise<number>;
}

async function loadPiece(
  load: Load,
  progress: Progress,
  { table, piece, entry }: { table: string; piece: number; entry: Entry },
): Promise<void> {
  if (table !== progress.filling?.table) {
    await endTable(progress);
    const matched = load.schema.tables.get(table);
    if (!matched || progress.rows.has(table) || progress.keys)
      throw refuseEntry(load.file, entry.name, 'is not one that a backup has there');
    progress.filling = startFilling(load.client, table, matched);
  }
  const { filling } = progress;
  if (piece !== filling!.pieces++) throw refuseEntry(load.file, entry.name, 'is out of order');
  await filling!.add(entry.stream);
}

async function endTable(progress: Progress): Promise<void> {
  const { filling, rows } = progress;
  if (!filling) return;
  delete progress.filling;
  rows.set(filling.table, await filling.end());
}

function startFilling(client: Client, table: string, { target, columns }: MatchedTable): TableLoad {
  const sink: CopyStreamQuery = client.query(from(copyIn(target, columns)));
  const done = new Promise<void>((resolve, reject) => {
    sink.once('finish', resolve).once('error', reject);
  });
  let hasFailed = false;
  done.catch(() => (hasFailed = true));
  return {
    table,
    pieces: 0,
    add: async (stream) => {
      for await (const chunk of stream)
        // After a failure, it takes nothing more.
        if (hasFailed) await done;
        else if (!sink.write(chunk)) await Promise.race([once(sink, 'drain'), done]);
    },
    end: async () => {
      if (!hasFailed) sink.end();
      await done;
      return sink.rowCount;
    },
  };
}

/** Prepares for files, and returns the keys of those that rows refer to. */
async function endTables({ client, target }: Load, progress: Progress): Promise<Set<string>> {
  if (progress.keys) return progress.keys;
  await adoptInstallation(client, target.storage);
  return (progress.keys = new Set(await listStoredFiles(sqlOn(client))));
}

/** Stores an uploaded file. It replaces that of an earlier attempt. */
async function loadFile(
  load: Load,
  progress: Progress,
  { key, entry }: { key: string; entry: Entry },
): Promise<void> {
  const { target, file } = load;
  if (!isFileKey(key)) throw refuseEntry(file, entry.name, 'has no name of an uploaded file');
  if (!(await endTables(load, progress)).delete(key))
    throw refuseEntry(file, entry.name, 'is of no record, or there twice');
  const { storage } = target;
  if (!(await storage.hasRoomFor(entry.bytes)))
    throw new StartError(
      `The disk of STORAGE_DIR has no room for ${entry.bytes} bytes; nothing was restored.`,
    );
  const draft = join(storage.incoming, randomUUID());
  try {
    await pipeline(entry.stream, createNewFile(draft));
    await storage.remove(key);
    await storage.keep(draft, key);
  } finally {
    await rm(draft, { force: true });
  }
  progress.files++;
}

function requireAll(
  file: string,
  { rows, files, totals, pepper }: Progress,
): { totals: Totals; pepper: string } {
  const expected = new Map(Object.entries(totals?.rows ?? {}));
  const isWrong = [...new Set([...rows.keys(), ...expected.keys()])].some(
    (table) => (rows.get(table) ?? 0) !== (expected.get(table) ?? 0),
  );
  if (!totals || pepper === undefined || isWrong || files !== totals.files)
    throw new StartError(`${file} is no complete backup; nothing was restored.`);
  return { totals, pepper };
}

/** Adapts the restored installation to the processes and the storage of its new host. */
async function adoptInstallation(client: Client, storage: Storage): Promise<void> {
  const sql = sqlOn(client);
  const [installation] = await sql(FORGET_SETTINGS, {});
  const mark = await readMark(storage);
  if (mark === undefined) await sql(FORGET_STORAGE, {});
  else if (mark !== installation?.storage_id)
    throw new StartError(
      'The storage of files, STORAGE_DIR or S3_BUCKET, belongs to another installation: name an ' +
        'empty one, or that of this installation.',
    );
}
