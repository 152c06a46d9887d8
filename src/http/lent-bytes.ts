import type { ServerResponse } from 'node:http';

// The bytes of large texts. Node encodes each text that it sends into new memory, which the kernel
// has to clear page by page: for an answer of 280 kB that takes longer than making the text. Here
// the memory is used again.

/** Below, new memory costs less than lending. */
const LEAST = 32_768;
/** Of each buffer; only the pages that were written once take memory. */
const CAPACITY = 3 * 1024 * 1024;
/** When more answers are being sent, the others are encoded by Node. */
const MOST = 8;

const free: Buffer[] = [];
let made = 0;

/**
 * Texts, one after the other, as bytes that may be used until the response is closed: then they are
 * written again. Undefined when they are too short or too long for that, or all memory is lent.
 */
export function lentBytes(texts: readonly string[], res: ServerResponse): Buffer | undefined {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  // In UTF-8, a character of JavaScript takes three bytes at most.
  if (length < LEAST || length > CAPACITY / 3) return undefined;
  // A response that was closed before, or waits for its turn on a connection, may never say so.
  if (res.destroyed || !res.socket) return undefined;
  if (free.length === 0 && made === MOST) return undefined;
  const buffer = free.pop() ?? newBuffer();
  res.once('close', () => free.push(buffer));
  let end = 0;
  for (const text of texts) end += buffer.write(text, end);
  return buffer.subarray(0, end);
}

function newBuffer(): Buffer {
  made++;
  return Buffer.allocUnsafeSlow(CAPACITY);
}
