import type { Readable } from 'node:stream';
import type { S3Settings } from './s3-settings';

/** The key of the file that identifies the installation of a storage. */
export const STORAGE_MARK = 'installation';

/** Files are in a folder, or with `s3` in a bucket. Plain values, to pass to a thread. */
export interface StorageSettings {
  /** Folder of arriving files, and without `s3` of all files. */
  folder: string;
  /** Bytes that must stay free on its disk. */
  reserve_bytes: number;
  /**
   * The mark of the installation, if it has one. Without the mark, the folder is another one, such
   * as the one below a disk that is not mounted, and is not used.
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
 * a separate key when a record refers to them. Methods throw StorageUnavailable when a bucket does
 * not answer or a folder is not mounted.
 */
export interface Storage {
  settings: StorageSettings;
  /** Folder for files that no record refers to yet. */
  incoming: string;
  /** True if its disk has room for `bytes` in addition to the reserve. */
  hasRoomFor(bytes: number): Promise<boolean>;
  /** Stores, reads and removes a file. Throws StartError, with the wrong variable. */
  check(): Promise<void>;
  /**
   * Stores a file under a new key, whole or not at all; the original file stays. May take long: not
   * for use within a transaction.
   */
  keep(file: string, key: string): Promise<void>;
  /** The file as a stream, and its size; undefined when there is none. */
  open(key: string): Promise<StoredFile | undefined>;
  /** The size of a file in bytes; undefined when there is none. */
  readSize(key: string): Promise<number | undefined>;
  remove(key: string): Promise<void>;
  /** Keys of the files that are older than `age_ms`, in batches. */
  keysOlderThan(ageMs: number): AsyncIterable<string[]>;
  /** Removes files of `incoming` older than `age_ms`, which a killed process left behind. */
  clearIncoming(ageMs: number): Promise<void>;
}

/**
 * The bucket or folder cannot be used now; it may work a moment later, or after a repair by the
 * operator.
 */
export class StorageUnavailable extends Error {}
