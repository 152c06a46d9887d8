import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs';
import { rm as remove } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline, Transform, type Readable, type TransformCallback } from 'node:stream';
import { pipeline as pipe } from 'node:stream/promises';
import { diskStorage, type StorageEngine } from 'multer';
import { HttpProblem } from '../../platform/errors';
import { createNewFile } from '../../platform/storage/new-file';
import type { Storage } from '../../platform/storage/storage';

/** How many bytes are written before free space is checked again. */
const CHECKED_BYTES = 16_777_216;

/**
 * Stores files of forms in the folder for incoming files. Throws 507 as soon as a file would use up
 * the reserve of the disk, also one whose length was not announced.
 */
export function uploadDisk(storage: Storage): StorageEngine {
  const disk = diskStorage({
    destination: storage.incoming,
    filename: (_req, _file, done) => done(null, randomUUID()),
  });
  return {
    _handleFile: (req, file, done) => {
      const checked = roomCheck(storage);
      // The disk storage, which reads this stream, reports its failure.
      pipeline(file.stream, checked, () => undefined);
      Object.defineProperty(file, 'stream', { value: checked, configurable: true });
      disk._handleFile(req, file, (error, info) => {
        if (!error) return done(null, info);
        const { path } = file as Partial<Express.Multer.File>;
        // Without a path, multer has removed the file already.
        if (path === undefined) return done(error);
        rm(path, { force: true }, () => done(error));
      });
    },
    _removeFile: (req, file, done) => disk._removeFile(req, file, done),
  };
}

/**
 * Stores a body in the folder for incoming files, with the checks that those of forms get. Throws
 * 413 as soon as it is larger than `max_bytes`.
 */
export async function saveBody(
  body: Readable,
  storage: Storage,
  maxBytes: number,
): Promise<{ path: string; bytes: number }> {
  const path = join(storage.incoming, randomUUID());
  let bytes = 0;
  const limited = new Transform({
    transform: (chunk: Buffer, _encoding, done: TransformCallback) => {
      bytes += chunk.length;
      if (bytes > maxBytes) done(fileTooLarge(maxBytes));
      else done(null, chunk);
    },
  });
  // A destroyed request would take its connection along, and with it the answer.
  const chunks = body.iterator({ destroyOnReturn: false });
  try {
    await pipe(chunks, limited, roomCheck(storage), createNewFile(path));
    return { path, bytes };
  } catch (error) {
    await remove(path, { force: true });
    throw error;
  }
}

function roomCheck(storage: Storage): Transform {
  let unchecked = 0;
  const check = async (bytes: number) => {
    unchecked += bytes;
    if (unchecked < CHECKED_BYTES) return;
    unchecked = 0;
    if (!(await storage.hasRoomFor(CHECKED_BYTES))) throw noSpace();
  };
  return new Transform({
    transform: (chunk: Buffer, _encoding, done: TransformCallback) => {
      check(chunk.length).then(
        () => done(null, chunk),
        (error: unknown) => done(error as Error),
      );
    },
  });
}

export const fileTooLarge = (bytes: number): HttpProblem =>
  new HttpProblem('file_too_large', `The file is larger than ${bytes} bytes.`);

export const noSpace = (): HttpProblem =>
  new HttpProblem(
    'insufficient_storage',
    'There is not enough space on the disk for the file. It was not stored.',
  );
