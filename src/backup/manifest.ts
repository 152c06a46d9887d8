import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { StartError } from '../start-error';
import type { Entry } from './archive';

// What an archive contains, in this order:
//   backup.json                what it is of: Manifest
//   key_pepper                 the pepper of the installation
//   tables/NAME/00000000       rows of a table as COPY writes them, in pieces
//   tables/jobs.job/00000000   jobs that have not ended
//   files/KEY                  uploaded files
//   end.json                   how much there was: Totals

export const MANIFEST = 'backup.json';
export const PEPPER = 'key_pepper';
export const TOTALS = 'end.json';

/** The format of the archives that this version writes and reads. */
export const FORMAT = 1;

/** The table of the queue, which is not of the schema `public`. */
export const JOBS = 'jobs.job';

export interface Manifest {
  format: number;
  /** Of Trunkline. */
  version: string;
  /** The instant of which everything is. */
  taken_at: string;
  /** All that were applied to the database, oldest first. */
  migrations: string[];
  /** Columns of each table, as a list of SQL. */
  columns: Record<string, string>;
  /** The last value that was taken of each sequence. */
  sequences: Record<string, string>;
}

export interface Totals {
  /** Rows by table. */
  rows: Record<string, number>;
  files: number;
  /** Keys of files that records refer to and that the storage did not have. */
  missing_files: string[];
}

/** The name of a piece of a table. */
export const pieceName = (table: string, piece: number): string =>
  `tables/${table}/${String(piece).padStart(8, '0')}`;

/** The table of a piece; undefined for other entries. */
export const tableOf = (name: string): string | undefined =>
  /^tables\/([a-z_.]+)\/\d{8}$/.exec(name)?.[1];

export const fileName = (key: string): string => `files/${key}`;

/** The key of an uploaded file; undefined for other entries. */
export const keyOf = (name: string): string | undefined => /^files\/(.+)$/.exec(name)?.[1];

export const readJson = async <T>(stream: Readable): Promise<T> =>
  JSON.parse(await text(stream)) as T;

/** Reads what an archive is of. Throws StartError unless this version can read it. */
export async function readManifest(entry: Entry | undefined, file: string): Promise<Manifest> {
  if (entry?.name !== MANIFEST) throw new StartError(`${file} is no backup of Trunkline.`);
  const manifest = await readJson<Manifest>(entry.stream);
  if (manifest.format === FORMAT) return manifest;
  throw new StartError(
    `${file} was made by Trunkline ${manifest.version}, in a format that this version does not ` +
      'know: restore it with that version.',
  );
}
