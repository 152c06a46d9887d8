import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack, type Header, type Pack } from 'tar-stream';
import { StartError } from '../start-error';

// Archives are tar files, compressed by gzip, so that other programs can look into them.

/** Only the operator may read what a backup contains. */
const MODE = 0o600;

/** An archive that is being written. */
export interface Archive {
  add(name: string, content: Buffer | string): Promise<void>;
  /** Adds a stream of which it is known how many bytes it has. */
  addStream(name: string, bytes: number, stream: Readable): Promise<void>;
}

/** An entry of an archive that is being read: its stream must be read to its end. */
export interface Entry {
  name: string;
  bytes: number;
  stream: Readable;
}

/**
 * Writes an archive to a file that does not exist yet. The file appears once it is complete; until
 * then it is called `FILE.partial`. Returns its size in bytes.
 */
export async function writeArchive(
  file: string,
  fill: (archive: Archive) => Promise<void>,
): Promise<number> {
  const draft = `${file}.partial`;
  const out = createWriteStream(draft, { mode: MODE, flags: 'w', flush: true });
  const packed = pack();
  const written = pipeline(packed, createGzip({ level: 1 }), out);
  try {
    await Promise.race([written, fill(archiveOf(packed))]);
    packed.finalize();
    await written;
    await rename(draft, file);
    return (out as WriteStream).bytesWritten;
  } catch (error) {
    packed.destroy();
    await written.catch(() => undefined);
    await rm(draft, { force: true });
    throw error;
  }
}

const archiveOf = (packed: Pack): Archive => {
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

/** Reads the entries of an archive, one after the other. Throws StartError for other files. */
export async function* readArchive(file: string): AsyncGenerator<Entry> {
  const entries = extract();
  const read = pipeline(createReadStream(file), createGunzip(), entries);
  read.catch(() => undefined);
  try {
    for await (const entry of entries)
      yield {
        name: entry.header.name,
        bytes: entry.header.size ?? 0,
        stream: entry as unknown as Readable,
      };
    await read;
  } catch (error) {
    throw damaged(file, error as NodeJS.ErrnoException);
  }
}

function damaged(file: string, error: NodeJS.ErrnoException): Error {
  if (error instanceof StartError) return error;
  if (error.code === 'ENOENT') return new StartError(`There is no file ${file}.`);
  const broken = /^Z_|^ERR_STREAM_PREMATURE_CLOSE/.test(error.code ?? '');
  if (!broken && !/tar|Unexpected end/i.test(error.message)) return error;
  return new StartError(`${file} is no complete backup: ${error.message}.`);
}
