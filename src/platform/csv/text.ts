import { pipeline, Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createGunzip } from 'node:zlib';
import { toStorable } from '../storable-text';
import { foreignFormat } from '../storage/file-format';

/** The message is shown to the client. */
export class FileProblem extends Error {}

const PIECE_BYTES = 64 * 1024;
/** Enough to detect a gzip archive, and formats other than CSV. */
const HEAD_BYTES = 4;
/** An archive that unpacks to more than this, and is not small, was made to fill memory or disk. */
const MAX_GROWTH = 100;
const ALWAYS_ALLOWED_BYTES = 64 * 1024 * 1024;

/**
 * Reads the text of a file, one piece at a time, with "\n" for every line break. The file may be
 * plain or gzip, UTF-8 or UTF-16, with or without a byte order mark. Characters that PostgreSQL
 * cannot store are replaced. Throws FileProblem for a file that is not text.
 */
export async function* readText(file: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const iterator = file[Symbol.asyncIterator]();
  try {
    const head = await readHead(iterator);
    if (head.length === 0) throw new FileProblem('The file is empty.');
    const format = foreignFormat(head);
    if (format) throw new FileProblem(`The file is not CSV but ${format}.`);
    const all = concatPieces(head, iterator);
    yield* decodeText(head[0] === 0x1f && head[1] === 0x8b ? unpackGzip(all) : all);
  } finally {
    await iterator.return?.();
  }
}

async function readHead(pieces: AsyncIterator<Buffer>): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < HEAD_BYTES) {
    const { value, done } = await pieces.next();
    if (done) break;
    head = head.length === 0 ? value : Buffer.concat([head, value]);
  }
  return head;
}

async function* concatPieces(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  yield* { [Symbol.asyncIterator]: () => rest };
}

async function* decodeText(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  const unify = createLineUnifier();
  for await (const piece of bytes) {
    decoder ??= createDecoder(piece);
    yield unify(toStorable(decoder.decode(piece, { stream: true })));
  }
  yield unify(decoder?.decode() ?? '', true);
}

async function* unpackGzip(pieces: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const source = Readable.from(pieces, { objectMode: false });
  const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
  // The loop below throws every error; this callback keeps it from being reported twice.
  pipeline(source, gunzip, () => undefined);
  let bytes = 0;
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > ALWAYS_ALLOWED_BYTES && bytes > gunzip.bytesWritten * MAX_GROWTH) {
        throw new FileProblem(
          `The gzip archive unpacks to more than ${MAX_GROWTH} times its size. ` +
            'If that is intended, send it unpacked.',
        );
      }
      yield piece;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_'))
      throw new FileProblem(`The gzip archive is damaged or cut off: ${(error as Error).message}.`);
    throw error;
  } finally {
    source.destroy();
  }
}

function createDecoder(piece: Buffer): TextDecoder {
  const encoding = detectEncoding(piece);
  const sample = new TextDecoder(encoding).decode(piece.subarray(0, 65_536));
  // Control characters that text does not contain.
  const control = sample.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/g)?.length ?? 0;
  if (control > sample.length / 100 || sample.includes('\0'))
    throw new FileProblem('The file is not text. It must be a CSV file, plain or gzip.');
  return new TextDecoder(encoding);
}

/** By the byte order mark, or else by the position of the zero bytes of Latin letters. */
function detectEncoding(piece: Buffer): string {
  if (piece[0] === 0xff && piece[1] === 0xfe) return 'utf-16le';
  if (piece[0] === 0xfe && piece[1] === 0xff) return 'utf-16be';
  const zeros = [0, 0];
  const length = Math.min(piece.length, 4096);
  for (let i = 0; i < length; i++) if (piece[i] === 0) zeros[i % 2]!++;
  if (zeros[1]! > length / 4 && zeros[0] === 0) return 'utf-16le';
  if (zeros[0]! > length / 4 && zeros[1] === 0) return 'utf-16be';
  return 'utf-8';
}

/** Turns CRLF and CR into LF. A CR at the end of a piece is kept until the next one is known. */
function createLineUnifier(): (text: string, last?: boolean) => string {
  let pending = '';
  return (text, last = false) => {
    let joined = pending + text;
    pending = !last && joined.endsWith('\r') ? '\r' : '';
    if (pending) joined = joined.slice(0, -1);
    return joined.includes('\r') ? joined.replace(/\r\n?/g, '\n') : joined;
  };
}
