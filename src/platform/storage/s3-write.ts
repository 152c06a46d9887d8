import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
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

/** A larger file is sent in parts of this size, one after the other. */
const PART_BYTES = 8_388_608;
const MAX_PARTS = 10_000;
/** The part of a file that is sent, and the next one, which is read meanwhile. */
const PARTS_IN_MEMORY = 2;
/** Over all uploads of the process: four files, or one of more than 40 GB. */
const MEMORY_BYTES = 67_108_864;
const memory = new PartMemory(MEMORY_BYTES);

/** Stores a file as an object: whole, or not at all. Throws StorageUnavailable. */
export async function writeObject(bucket: Bucket, file: string, name: string): Promise<void> {
  const { size } = await stat(file);
  const partSize = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS));
  const used = Math.min(size, PARTS_IN_MEMORY * partSize, MEMORY_BYTES);
  await memory.with(used, bucket.timeouts.transfer, () =>
    upload(bucket, { file, size, part_size: partSize, name }),
  );
}

interface Source {
  file: string;
  size: number;
  part_size: number;
  name: string;
}

/** Parts that the library cannot take back, a rule of the bucket deletes (docs/configure.md). */
async function upload(bucket: Bucket, { file, size, part_size, name }: Source): Promise<void> {
  const object = bucket.at(name);
  // Loaded when the first file is stored in a bucket.
  const { Upload } = await import('@aws-sdk/lib-storage');
  const multipart = new Upload({
    client: await bucket.client(),
    params: { ...object, Body: createReadStream(file) },
    partSize: part_size,
    queueSize: 1,
  });
  const limit = setTimeout(() => void multipart.abort(), bucket.timeouts.transfer);
  multipart.on('httpUploadProgress', () => void limit.refresh());
  try {
    await multipart.done();
  } catch (error) {
    // The answer that the parts were joined was lost, and the upload no longer exists.
    const isJoined = toS3Fault(error).name === 'NoSuchUpload';
    const stored = isJoined && (await bucket.requestOrFail((s3, o) => s3.headObject(object, o)));
    if (!stored || stored.ContentLength !== size) throwUnavailable(error);
  } finally {
    clearTimeout(limit);
  }
}
