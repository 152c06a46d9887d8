import { addAbortSignal, Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { isMissing, unavailable, type Bucket } from './s3-bucket';
import type { StoredFile } from './storage';

/**
 * An object as a stream that continues at its position when the connection breaks or stalls;
 * undefined when there is none. Throws StorageUnavailable, and so does the stream.
 */
export async function readObject(bucket: Bucket, name: string): Promise<StoredFile | undefined> {
  const first = await bodyFrom(bucket, name, 0).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw unavailable(error);
  });
  if (!first) return undefined;
  const closed = new AbortController();
  const transfer = { bucket, name, bytes: first.bytes, signal: closed.signal };
  const stream = Readable.from(pieces(transfer, first.body), { objectMode: false });
  // The generator may be waiting for a piece: this ends its wait.
  stream.once('close', () => {
    closed.abort();
    first.body.destroy();
  });
  return { stream, bytes: first.bytes };
}

async function bodyFrom(bucket: Bucket, name: string, at: number) {
  const range = at > 0 ? { Range: `bytes=${at}-` } : {};
  const { Body, ContentLength = 0 } = await bucket.ask((s3, options) =>
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

async function* pieces(transfer: Transfer, first: Readable): AsyncGenerator<Buffer> {
  const { bucket, name, bytes, signal } = transfer;
  let [at, failures] = [0, 0];
  for (let body: Readable | undefined = first; ;) {
    try {
      body ??= (await bodyFrom(bucket, name, at)).body;
      for await (const piece of timely(addAbortSignal(signal, body), bucket.timeouts.idle)) {
        at += piece.length;
        failures = 0;
        yield piece;
      }
      if (at >= bytes) return;
      throw new Error(`the connection broke after ${at} of ${bytes} bytes`);
    } catch (error) {
      body = undefined;
      const pause_ms = bucket.timeouts.pauses[failures++];
      if (signal.aborted || isMissing(error) || pause_ms === undefined) throw unavailable(error);
      await pause(pause_ms, undefined, { signal });
    }
  }
}

/** The pieces of a body; throws when a piece takes longer than `limit_ms`. */
async function* timely(body: Readable, limit_ms: number): AsyncGenerator<Buffer> {
  const iterator = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const late = () => body.destroy(new Error(`nothing came for ${limit_ms} ms`));
  try {
    for (;;) {
      const timer = setTimeout(late, limit_ms);
      const { value, done } = await iterator.next().finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  } finally {
    body.destroy();
  }
}
