import { createHash } from 'node:crypto';

// What another service answers is input: it may be of any size, and its lists may never end.

/** An answer has more bytes than are read of it. */
export class TooLarge extends Error {}

/** The chunks of a body. Throws TooLarge after `maxBytes`; the rest is not read. */
export async function* limitBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new TooLarge(`has more than ${maxBytes} bytes`);
    yield chunk;
  }
}

/** A body as a whole. Throws TooLarge, without the rest being read. */
export async function readBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of limitBytes(body, maxBytes)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const DIGEST_BYTES = 12;

/** Which positions or pages of a list were read: a list that comes back to one never ends. */
export class VisitedPages {
  private readonly digests = new Set<string>();

  /** Whether it is the first time. A few bytes are kept of each, however long it is. */
  add(position: string): boolean {
    const digest = createHash('sha256')
      .update(position)
      .digest()
      .toString('base64', 0, DIGEST_BYTES);
    const before = this.digests.size;
    return this.digests.add(digest).size > before;
  }
}
