import type { Readable } from 'node:stream';
import type { Client } from 'pg';
import { to } from 'pg-copy-streams';
import { isDistributed } from '../cells/is-distributed';
import { contract } from '../../platform/contract/contract';
import { HostsClient } from '../../data/postgres/hosts-client';
import { sqlOn, type Sql } from '../../data/sql';
import { listTables, listUsedSequences } from '../../data/postgres/whole-tables';
import { withClient } from '../../data/postgres/with-client';
import { StartError } from '../../platform/start-error';
import type { Storage } from '../../platform/storage/storage';
import { listMigrations } from './list-migrations';
import { requireNewFile, writeArchive, type Archive } from './archive';
import {
  fileName,
  FORMAT,
  JOBS,
  MANIFEST,
  PEPPER,
  pieceName,
  TOTALS,
  type Manifest,
  type Totals,
} from './manifest';
import { copyJobsOut, copyOut, JOB_COLUMNS, lockTables, READ_MOMENT } from './queries/snapshot';
import { listStoredFiles } from '../installation/stored-files';

/** Part of a table that is in memory at a time. */
const PIECE_BYTES = 4 * 1024 * 1024;

/** Tables about running processes, and about requests of the current minute. */
const LEFT_OUT = new Set(['processes', 'loop_faults', 'rate_limits']);

export interface Source {
  session_url: string;
  storage: Storage;
  pepper: string;
}

export interface BackupResult {
  file: string;
  bytes: number;
  taken_at: string;
  rows: number;
  files: number;
  missing_files: string[];
}

/**
 * Writes everything of an installation, as of one instant, into a new file, while the service runs:
 * all tables and jobs, the pepper, and the uploaded files that records refer to. A file that is
 * removed meanwhile is listed in `missing_files`; its import had ended.
 */
export async function backUp(
  source: Source,
  file: string,
  { piece_bytes = PIECE_BYTES } = {},
): Promise<BackupResult> {
  await requireNewFile(file);
  const client = new HostsClient({
    connectionString: source.session_url,
    options: '-c timezone=UTC -c statement_timeout=0 -c idle_in_transaction_session_timeout=0',
  });
  return withClient(client, async () => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const sql = sqlOn(client);
    if (await isDistributed(sql)) throw buildDistributedError();
    const manifest = await readManifest(sql);
    await client.query(lockTables(Object.keys(manifest.columns)));
    let totals: Totals = { rows: {}, files: 0, missing_files: [] };
    const bytes = await writeArchive(file, async (archive) => {
      await archive.add(MANIFEST, JSON.stringify(manifest));
      await archive.add(PEPPER, source.pepper);
      const keys = await listStoredFiles(sql);
      const rows = await addTables(archive, client, { all_columns: manifest.columns, piece_bytes });
      totals = { rows, ...(await addFiles(archive, keys, source.storage)) };
      await archive.add(TOTALS, JSON.stringify(totals));
    });
    const rows = Object.values(totals.rows).reduce((sum, count) => sum + count, 0);
    const { files, missing_files } = totals;
    return { file, bytes, taken_at: manifest.taken_at, rows, files, missing_files };
  });
}

const buildDistributedError = () =>
  new StartError(
    'A distributed database is backed up node by node, as of a restore point: see ' +
      'docs/backup.md.',
  );

async function readManifest(sql: Sql): Promise<Manifest> {
  // The first statement sets the instant of everything that the transaction reads.
  const [moment] = await sql(READ_MOMENT, {});
  const migrations = await listMigrations(sql);
  const tables = (await listTables(sql)).filter(({ name }) => !LEFT_OUT.has(name));
  const [jobs] = await sql(JOB_COLUMNS, {});
  const sequences = await listUsedSequences(sql, 'public');
  return {
    format: FORMAT,
    version: contract.document.info.version,
    taken_at: moment!.taken_at!.toISOString(),
    migrations,
    columns: Object.fromEntries([
      ...tables.map(({ name, columns }) => [`public.${name}`, columns] as const),
      [JOBS, jobs!.columns!],
    ]),
    sequences: Object.fromEntries(sequences.map(({ name, last_value }) => [name, last_value])),
  };
}

async function addTables(
  archive: Archive,
  client: Client,
  { all_columns, piece_bytes }: { all_columns: Manifest['columns']; piece_bytes: number },
): Promise<Totals['rows']> {
  const rows: Totals['rows'] = {};
  for (const [table, columns] of Object.entries(all_columns)) {
    const text = table === JOBS ? copyJobsOut(columns) : copyOut(table, columns);
    const stream = client.query(to(text));
    let piece = 0;
    for await (const content of gatherPieces(stream, piece_bytes))
      await archive.add(pieceName(table, piece++), content);
    rows[table] = stream.rowCount;
  }
  return rows;
}

async function* gatherPieces(stream: Readable, pieceBytes: number): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes < pieceBytes) continue;
    yield Buffer.concat(chunks);
    [chunks, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(chunks);
}

export async function addFiles(
  archive: Archive,
  keys: readonly string[],
  storage: Storage,
): Promise<Omit<Totals, 'rows'>> {
  const missingFiles: string[] = [];
  for (const key of keys) {
    const storedFile = await storage.open(key);
    if (storedFile) await archive.addStream(fileName(key), storedFile.bytes, storedFile.stream);
    else missingFiles.push(key);
  }
  return { files: keys.length - missingFiles.length, missing_files: missingFiles };
}
