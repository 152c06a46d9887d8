import { createHash } from 'node:crypto';

// An answer of another service is input: it may be of any size, and its lists may never end.

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

/** Throws TooLarge after `maxBytes`; the rest is not read. */
export async function readBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of limitBytes(body, maxBytes)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const DIGEST_BYTES = 12;

/**
 * The positions or pages of a list that were read: a list that returns to one of them never ends.
 */
export class VisitedPages {
  private readonly digests = new Set<string>();

  /** Returns true the first time. Stores a digest of a few bytes, however long the position is. */
  add(position: string): boolean {
    const digest = createHash('sha256')
      .update(position)
      .digest()
      .toString('base64', 0, DIGEST_BYTES);
    const before = this.digests.size;
    return this.digests.add(digest).size > before;
  }
}
