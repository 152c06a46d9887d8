import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import type { CompletedPart } from '@aws-sdk/client-s3';
import { toS3Fault, throwUnavailable, type Bucket } from './s3-bucket';
import { StorageUnavailable } from './storage';

interface WaitingPart {
  bytes: number;
  begin: () => void;
}

/**
 * Limits how many bytes of files are in memory while they are sent, over all uploads of a process.
 * Work that finds no room waits for its turn.
 */
export class PartMemory {
  private waiting: WaitingPart[] = [];

  constructor(private free: number) {}

  /** Runs the work when there is room; throws StorageUnavailable when `limit_ms` have passed. */
  async with<T>(bytes: number, limitMs: number, work: () => Promise<T>): Promise<T> {
    await this.take(bytes, limitMs);
    try {
      return await work();
    } finally {
      this.free += bytes;
      this.next();
    }
  }

  private take(bytes: number, limitMs: number): Promise<void> {
    return new Promise((done, fail) => {
      const timer = setTimeout(() => {
        this.waiting = this.waiting.filter((item) => item !== entry);
        fail(new StorageUnavailable('the bucket takes the files that are sent too slowly'));
        this.next();
      }, limitMs);
      const begin = () => {
        clearTimeout(timer);
        done();
      };
      const entry = { bytes, begin };
      this.waiting.push(entry);
      this.next();
    });
  }

  /** In order, so that a large part gets its turn too. */
  private next(): void {
    while (this.waiting[0] && this.waiting[0].bytes <= this.free) {
      const { bytes, begin } = this.waiting.shift()!;
      this.free -= bytes;
      begin();
    }
  }
}

/** A larger file is sent in parts of this size: one part at a time is in memory. */
const PART_BYTES = 8_388_608;
const MAX_PARTS = 10_000;
/** Over all uploads of the process: eight parts, or one of a file of more than 80 GB. */
const MEMORY_BYTES = 67_108_864;
const memory = new PartMemory(MEMORY_BYTES);
/** Bytes that are read and digested at a time, so that requests are answered in between. */
const PIECE_BYTES = 262_144;

/** Stores a file as an object: whole, or not at all. Throws StorageUnavailable. */
export async function writeObject(bucket: Bucket, file: string, name: string): Promise<void> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const partBytes = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS));
    const used = Math.min(size, partBytes, MEMORY_BYTES);
    const source = { handle, size, part_bytes: partBytes };
    const write = size <= PART_BYTES ? writeAtOnce : writeInParts;
    await memory.with(used, bucket.timeouts.transfer, () => write(bucket, source, name));
  } finally {
    await handle.close();
  }
}

interface Source {
  handle: FileHandle;
  size: number;
  part_bytes: number;
}

async function writeAtOnce(bucket: Bucket, { handle, size }: Source, name: string): Promise<void> {
  const Body = await readPart(bucket, handle, { into: Buffer.allocUnsafe(size), at: 0 });
  await bucket.requestOrFail(
    (s3, options) => s3.putObject({ ...bucket.at(name), Body, ContentLength: size }, options),
    bucket.timeouts.transfer,
  );
}

async function writeInParts(bucket: Bucket, source: Source, name: string): Promise<void> {
  const object = bucket.at(name);
  const { UploadId } = await bucket.requestOrFail((s3, options) =>
    s3.createMultipartUpload(object, options),
  );
  const upload = { ...object, UploadId };
  try {
    const Parts = await writeParts(bucket, source, upload);
    await complete(bucket, { upload, Parts, size: source.size });
  } catch (error) {
    // A rule of the bucket deletes parts that stay nevertheless (docs/configure.md).
    await bucket.request((s3, options) => s3.abortMultipartUpload(upload, options)).catch(() => {});
    throw error;
  }
}

interface Upload {
  Bucket: string;
  Key: string;
  UploadId: string | undefined;
}

async function writeParts(
  bucket: Bucket,
  { handle, size, part_bytes }: Source,
  upload: Upload,
): Promise<CompletedPart[]> {
  const buffer = Buffer.allocUnsafe(part_bytes);
  const parts: CompletedPart[] = [];
  for (let at = 0; at < size; at += part_bytes) {
    const into = buffer.subarray(0, Math.min(part_bytes, size - at));
    const Body = await readPart(bucket, handle, { into, at });
    const part = { PartNumber: parts.length + 1, ContentLength: Body.length };
    const { ETag } = await bucket.requestOrFail(
      (s3, options) => s3.uploadPart({ ...upload, ...part, Body }, options),
      bucket.timeouts.transfer,
    );
    parts.push({ PartNumber: part.PartNumber, ETag });
  }
  return parts;
}

/**
 * Joins the parts. When an answer was lost, the next try fails because the upload no longer exists.
 */
async function complete(
  bucket: Bucket,
  { upload, Parts, size }: { upload: Upload; Parts: CompletedPart[]; size: number },
): Promise<void> {
  const { Bucket, Key } = upload;
  try {
    await bucket.request(
      (s3, options) =>
        s3.completeMultipartUpload({ ...upload, MultipartUpload: { Parts } }, options),
      bucket.timeouts.transfer,
    );
  } catch (error) {
    if (toS3Fault(error).name !== 'NoSuchUpload') throwUnavailable(error);
    const storedObject = await bucket.requestOrFail((s3, options) =>
      s3.headObject({ Bucket, Key }, options),
    );
    if (storedObject.ContentLength !== size) throwUnavailable(error);
  }
}

/** Reads a part of a file, with its digest, which the service compares with the received bytes. */
async function readPart(
  bucket: Bucket,
  handle: FileHandle,
  { into, at }: { into: Buffer; at: number },
): Promise<Uint8Array> {
  const hash = createHash('sha256');
  for (let done = 0; done < into.length;) {
    const length = Math.min(PIECE_BYTES, into.length - done);
    const { bytesRead } = await handle.read(into, done, length, at + done);
    if (bytesRead === 0) throw new Error('the file became shorter while it was stored');
    hash.update(into.subarray(done, done + bytesRead));
    done += bytesRead;
  }
  return bucket.withDigest(into, hash.digest('hex'));
}
