import { createReadStream } from 'node:fs';
import { pipeline, type Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createGunzip } from 'node:zlib';
import { foreignFormat, headOf } from '../../storage/file-format';

/** Why a file cannot be imported, in words for the person who sent it. */
export class FileProblem extends Error {}

const PIECE_BYTES = 64 * 1024;
/** An archive that grows more than this, and beyond what a small file may, was made to fill memory or disk. */
const MOST_GROWTH = 100;
const ALWAYS_ALLOWED_BYTES = 64 * 1024 * 1024;

/**
 * The text of a file, piece by piece, with "\n" for every line break: plain or gzip, UTF-8 or UTF-16 with or without byte order mark. Throws
 * FileProblem for what is not text. Holds one piece in memory, whatever the size of the file.
 */
export async function* readText(file: string): AsyncGenerator<string> {
  const head = await headOf(file);
  if (head.length === 0) throw new FileProblem('The file is empty.');
  const format = foreignFormat(head);
  if (format) throw new FileProblem(`The file is no CSV but ${format}.`);
  const source = createReadStream(file, { highWaterMark: PIECE_BYTES });
  const bytes = head[0] === 0x1f && head[1] === 0x8b ? gunzipped(source) : source;
  let decoder: TextDecoder | undefined;
  const unify = lineBreaks();
  for await (const piece of bytes as AsyncIterable<Buffer>) {
    decoder ??= decoderOf(piece);
    yield unify(decoder.decode(piece, { stream: true }));
  }
  yield unify(decoder?.decode() ?? '', true);
}

async function* gunzipped(source: Readable): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
  // The iteration below sees every error; this callback only keeps it from being reported twice.
  pipeline(source, gunzip, () => undefined);
  let bytes = 0;
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > ALWAYS_ALLOWED_BYTES && bytes > gunzip.bytesWritten * MOST_GROWTH) {
        throw new FileProblem(
          `The gzip archive unpacks to more than ${MOST_GROWTH} times its size. Send it unpacked if it is meant so.`,
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

function decoderOf(piece: Buffer): TextDecoder {
  const encoding = encodingOf(piece);
  const sample = new TextDecoder(encoding).decode(piece.subarray(0, 65_536));
  // Control characters that no text has.
  const strange = sample.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/g)?.length ?? 0;
  if (strange > sample.length / 100 || sample.includes('\0'))
    throw new FileProblem('The file is not text. It must be a CSV file, plain or gzip.');
  return new TextDecoder(encoding);
}

/** By the byte order mark, else by where the zero bytes of plain Latin letters stand. */
function encodingOf(piece: Buffer): string {
  if (piece[0] === 0xff && piece[1] === 0xfe) return 'utf-16le';
  if (piece[0] === 0xfe && piece[1] === 0xff) return 'utf-16be';
  const zeros = [0, 0];
  const length = Math.min(piece.length, 4096);
  for (let i = 0; i < length; i++) if (piece[i] === 0) zeros[i % 2]!++;
  if (zeros[1]! > length / 4 && zeros[0] === 0) return 'utf-16le';
  if (zeros[0]! > length / 4 && zeros[1] === 0) return 'utf-16be';
  return 'utf-8';
}

/** Turns CRLF and CR into LF; a CR at the end of a piece waits for what follows it. */
function lineBreaks(): (text: string, last?: boolean) => string {
  let held = '';
  return (text, last = false) => {
    let joined = held + text;
    held = !last && joined.endsWith('\r') ? '\r' : '';
    if (held) joined = joined.slice(0, -1);
    return joined.includes('\r') ? joined.replace(/\r\n?/g, '\n') : joined;
  };
}
