import { cutText } from '../../platform/storable-text';
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack, type Header, type Pack } from 'tar-stream';
import { StartError } from '../../platform/start-error';
import { createNewFile, nameNewFile } from '../../platform/storage/new-file';

// Archives are tar files compressed by gzip, so that other programs can read them.

/** Only the operator may read the data in a backup. */
const MODE = 0o600;

export interface Archive {
  add(name: string, content: Buffer | string): Promise<void>;
  /** Adds a stream of a known number of bytes. */
  addStream(name: string, bytes: number, stream: Readable): Promise<void>;
}

/** An entry of an archive that is being read. Its stream must be read to its end. */
export interface Entry {
  name: string;
  bytes: number;
  stream: Readable;
}

/**
 * Writes an archive to a file that does not exist yet. The file appears once it is complete; until
 * then it is called `FILE.….partial`. An existing file or link of that name stays unchanged.
 * Returns the size in bytes.
 */
export async function writeArchive(
  file: string,
  fill: (archive: Archive) => Promise<void>,
): Promise<number> {
  const draft = `${file}.${randomUUID()}.partial`;
  const out = createNewFile(draft);
  const packed = pack();
  const completion = pipeline(packed, createGzip({ level: 1 }), out);
  try {
    await Promise.race([completion, fill(buildArchive(packed))]);
    packed.finalize();
    await completion;
    await nameNewFile(draft, file).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? refuseName(file) : error;
    });
    return out.bytesWritten;
  } catch (error) {
    packed.destroy();
    await completion.catch(() => undefined);
    await rm(draft, { force: true });
    throw out.errored && error === out.errored ? toUnwritableError(file, out.errored) : error;
  }
}

/** Throws if the file exists, before the work of filling it. */
export async function requireNewFile(file: string): Promise<void> {
  if (await lstat(file).catch(() => undefined)) throw refuseName(file);
}

const toUnwritableError = (file: string, { code, message }: NodeJS.ErrnoException): StartError =>
  new StartError(
    code === 'ENOENT'
      ? `${file} cannot be written: its folder does not exist.`
      : `${file} cannot be written: ${message}.`,
  );

const refuseName = (file: string) =>
  new StartError(`${file} is there already: choose another name.`);

const buildArchive = (packed: Pack): Archive => {
  const entry = (
    header: Partial<Header> & Pick<Header, 'name'>,
    fill: (sink: NodeJS.WritableStream) => Promise<unknown>,
  ) =>
    new Promise<void>((done, fail) => {
      const sink = packed.entry(header, (error) => (error ? fail(error) : done()));
      fill(sink).catch(fail);
    });
  return {
    add: (name, content) =>
      entry({ name, size: Buffer.byteLength(content), mode: MODE }, async (sink) =>
        sink.end(content),
      ),
    addStream: (name, size, stream) =>
      entry({ name, size, mode: MODE }, (sink) => pipeline(stream, sink)),
  };
};

/**
 * Reads the entries of an archive in sequence, in limited memory. Throws StartError for other
 * files, and for entries that are not files.
 */
export async function* readArchive(file: string): AsyncGenerator<Entry> {
  const entries = extract();
  const read = pipeline(createReadStream(file), createGunzip(), entries);
  read.catch(() => undefined);
  try {
    for await (const entry of entries) {
      const { name, type, size = 0 } = entry.header;
      if (type !== 'file') throw refuseEntry(file, name, 'is no file');
      yield { name, bytes: size, stream: Readable.from(readPieces(file, entry)) };
    }
    await read;
  } catch (error) {
    throw toDamagedError(file, error as NodeJS.ErrnoException);
  }
}

async function* readPieces(file: string, pieces: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  try {
    yield* pieces as AsyncIterable<Buffer>;
  } catch (error) {
    throw toDamagedError(file, error as NodeJS.ErrnoException);
  }
}

/** An archive may have been written by anyone: its names are quoted without control characters. */
export const refuseEntry = (file: string, name: string, fault: string): StartError =>
  new StartError(`${file} is no backup of Trunkline: the entry ${quoteName(name)} ${fault}.`);

const SHOWN_CHARACTERS = 100;

export const quoteName = (text: string): string =>
  JSON.stringify(cutText(text, SHOWN_CHARACTERS)).replace(/[^ -~]/g, '?');

function toDamagedError(file: string, error: NodeJS.ErrnoException): Error {
  if (error instanceof StartError) return error;
  if (error.code === 'ENOENT') return new StartError(`There is no file ${file}.`);
  if (error.syscall !== undefined) return new StartError(`${file} cannot be read: ${error.code}.`);
  return new StartError(`${file} is no complete backup: ${error.message}.`);
}
