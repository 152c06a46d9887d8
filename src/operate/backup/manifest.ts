// Entries of an archive, in this order:
//   backup.json                description of the archive: Manifest
//   key_pepper                 the pepper of the installation
//   tables/NAME/00000000       rows of a table as COPY writes them, in pieces
//   tables/jobs.job/00000000   jobs that have not ended
//   files/KEY                  uploaded files
//   end.json                   numbers of rows and files: Totals

export const MANIFEST = 'backup.json';
export const PEPPER = 'key_pepper';
export const TOTALS = 'end.json';

/** The format of the archives that this version writes and reads. */
export const FORMAT = 1;

/** The table of the job queue, which is not in the schema `public`. */
export const JOBS = 'jobs.job';

export interface Manifest {
  format: number;
  /** Version of Trunkline. */
  version: string;
  /** The instant of all data. */
  taken_at: string;
  /** All migrations applied to the database, oldest first. */
  migrations: string[];
  /** Columns of each table, as an SQL list. */
  columns: Record<string, string>;
  /** Last used value of each sequence. */
  sequences: Record<string, string>;
}

export interface Totals {
  /** Rows by table. */
  rows: Record<string, number>;
  files: number;
  /** Keys of files that records refer to and that the storage did not have. */
  missing_files: string[];
}

export const pieceName = (table: string, piece: number): string =>
  `tables/${table}/${String(piece).padStart(8, '0')}`;

/** Table and number of a piece; undefined for other entries. */
export function readPieceName(name: string): { table: string; piece: number } | undefined {
  const [, table, piece] = /^tables\/([a-z_]+\.[a-z_]+)\/(\d{8})$/.exec(name) ?? [];
  return table === undefined ? undefined : { table, piece: Number(piece) };
}

const FILES = 'files/';

export const fileName = (key: string): string => `${FILES}${key}`;

/** The key of an uploaded file; undefined for other entries. */
export const readFileName = (name: string): string | undefined =>
  name.startsWith(FILES) ? name.slice(FILES.length) : undefined;
