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

/** The table of a piece and its number; undefined for other entries. */
export function readPieceName(name: string): { table: string; piece: number } | undefined {
  const [, table, piece] = /^tables\/([a-z_]+\.[a-z_]+)\/(\d{8})$/.exec(name) ?? [];
  return table === undefined ? undefined : { table, piece: Number(piece) };
}

const FILES = 'files/';

export const fileName = (key: string): string => `${FILES}${key}`;

/** The key of an uploaded file; undefined for other entries. */
export const readFileName = (name: string): string | undefined =>
  name.startsWith(FILES) ? name.slice(FILES.length) : undefined;
