import { addAbortSignal, Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { isMissing, toUnavailable, type Bucket } from './s3-bucket';
import type { StoredFile } from './storage';

/**
 * An object as a stream that continues at its position when the connection breaks or stalls;
 * undefined when there is none. Throws StorageUnavailable, and so does the stream.
 */
export async function readObject(bucket: Bucket, name: string): Promise<StoredFile | undefined> {
  const first = await openBody(bucket, name, 0).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw toUnavailable(error);
  });
  if (!first) return undefined;
  const closed = new AbortController();
  const transfer = { bucket, name, bytes: first.bytes, signal: closed.signal };
  const stream = Readable.from(readPieces(transfer, first.body), { objectMode: false });
  // The generator may be waiting for a piece: this ends its wait.
  stream.once('close', () => {
    closed.abort();
    first.body.destroy();
  });
  return { stream, bytes: first.bytes };
}

async function openBody(bucket: Bucket, name: string, at: number) {
  const range = at > 0 ? { Range: `bytes=${at}-` } : {};
  const { Body, ContentLength = 0 } = await bucket.request((s3, options) =>
    s3.getObject({ ...bucket.at(name), ...range }, options),
  );
  return { body: Body as Readable, bytes: ContentLength };
}

interface Transfer {
  bucket: Bucket;
  name: string;
  bytes: number;
  signal: AbortSignal;
}

async function* readPieces(transfer: Transfer, first: Readable): AsyncGenerator<Buffer> {
  const { bucket, name, bytes, signal } = transfer;
  let [at, failures] = [0, 0];
  for (let body: Readable | undefined = first; ;) {
    try {
      body ??= (await openBody(bucket, name, at)).body;
      for await (const piece of limitWait(addAbortSignal(signal, body), bucket.timeouts.idle)) {
        at += piece.length;
        failures = 0;
        yield piece;
      }
      if (at >= bytes) return;
      throw new Error(`the connection broke after ${at} of ${bytes} bytes`);
    } catch (error) {
      body = undefined;
      const pauseMs = bucket.timeouts.pauses[failures++];
      if (signal.aborted || isMissing(error) || pauseMs === undefined) throw toUnavailable(error);
      await pause(pauseMs, undefined, { signal });
    }
  }
}

/** The pieces of a body; throws when a piece takes longer than `limit_ms`. */
async function* limitWait(body: Readable, limitMs: number): AsyncGenerator<Buffer> {
  const iterator = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const late = () => body.destroy(new Error(`nothing came for ${limitMs} ms`));
  try {
    for (;;) {
      const timer = setTimeout(late, limitMs);
      const { value, done } = await iterator.next().finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  } finally {
    body.destroy();
  }
}
