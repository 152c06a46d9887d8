import type { ServerResponse } from 'node:http';

// Buffers for large texts. Node encodes each text that it sends into new memory, which the kernel
// has to clear page by page: for an answer of 280 kB that takes longer than making the text. Here
// the memory is reused.

/** Below this size, new memory costs less than a pooled buffer. */
const MIN_BYTES = 32_768;
/** Bytes of each buffer; only the pages that were written once take memory. */
const CAPACITY = 3 * 1024 * 1024;
/** When more answers are being sent, Node encodes the others. */
const MAX_BUFFERS = 8;

const free: Buffer[] = [];
let allocated = 0;

/**
 * Encodes texts, one after the other, into bytes that are valid until the response is closed.
 * Undefined if the texts are too short or too long, or all buffers are in use.
 */
export function borrowBytes(texts: readonly string[], res: ServerResponse): Buffer | undefined {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  // In UTF-8, a character of JavaScript takes three bytes at most.
  if (length < MIN_BYTES || length > CAPACITY / 3) return undefined;
  // A response that is closed already, or waits for its turn on a connection, may never emit
  // `close`.
  if (res.destroyed || !res.socket) return undefined;
  if (free.length === 0 && allocated === MAX_BUFFERS) return undefined;
  const buffer = free.pop() ?? newBuffer();
  res.once('close', () => free.push(buffer));
  let end = 0;
  for (const text of texts) end += buffer.write(text, end);
  return buffer.subarray(0, end);
}

function newBuffer(): Buffer {
  allocated++;
  return Buffer.allocUnsafeSlow(CAPACITY);
}
