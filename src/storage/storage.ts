import type { Readable } from 'node:stream';
import type { S3Settings } from './s3-settings';

/** The key of the file that says which installation a storage belongs to. */
export const STORAGE_MARK = 'installation';

/** Where files are: in a folder, or with `s3` in a bucket. Plain values, to pass to a thread. */
export interface StorageSettings {
  /** Folder of files that arrive, and without `s3` of all files. */
  folder: string;
  /** What must stay free on its disk. */
  reserve_bytes: number;
  /**
   * The mark of the installation, where it has one: without it, the folder is another one that is
   * in its place, such as the one below a disk that is not mounted, and is left as it is.
   */
  mark?: string | undefined;
  s3?: S3Settings | undefined;
}

export interface StoredFile {
  stream: Readable;
  bytes: number;
}

/**
 * Uploaded files: on this machine's disk, in `incoming`, while the request is being read, and under
 * a key of their own when a record refers to them. Of a bucket that does not answer, or a folder
 * that is away, methods throw StorageUnavailable.
 */
export interface Storage {
  settings: StorageSettings;
  /** Folder for files that no record refers to yet. */
  incoming: string;
  /** Whether its disk has room for so many bytes, in addition to the reserve. */
  hasRoomFor(bytes: number): Promise<boolean>;
  /** Stores, reads and removes a file. Throws StartError, which names the wrong variable. */
  check(): Promise<void>;
  /**
   * Stores a file under a key that has none yet, whole or not at all; it stays where it was. May
   * take long: not for within a transaction.
   */
  keep(file: string, key: string): Promise<void>;
  /** The file as a stream, and its size; undefined when there is none. */
  open(key: string): Promise<StoredFile | undefined>;
  /** The size of a file; undefined when there is none. */
  bytesOf(key: string): Promise<number | undefined>;
  remove(key: string): Promise<void>;
  /** Keys of the files that are older than `age_ms`, some at a time. */
  keysOlderThan(age_ms: number): AsyncIterable<string[]>;
  /** Removes files of `incoming` older than `age_ms`, which a killed process left behind. */
  clearIncoming(age_ms: number): Promise<void>;
}

/**
 * The bucket or folder cannot be used now; it may be a moment later, or once the operator has
 * mended it.
 */
export class StorageUnavailable extends Error {}
