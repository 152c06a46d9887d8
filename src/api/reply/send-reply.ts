import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { sendEvents } from './event-stream';
import { Csv, Download, EventStream, Json, NotModified, Twiml } from './reply';
import type { ServerResponse } from 'node:http';

/** How long a client may stop reading an export. */
const STALLED_MS = 60_000;

/** Longer answers are sent at once: to wait would cost more memory than it saves time. */
const MAX_WAITING_CHARS = 16_384;

/** Sends what a handler returned; `status` is the contract's. */
export function sendReply(
  req: Request,
  res: Response,
  status: number,
  reply: unknown,
): void | Promise<void> {
  if (reply instanceof Json)
    return sendJson(res, reply.status ?? status, reply.parts, reply.headers);
  if (reply instanceof Twiml) return void res.status(status).type('text/xml').send(reply.text);
  if (reply instanceof EventStream) return sendEvents(req, res.status(status), reply);
  if (reply instanceof NotModified) return void res.status(304).set(reply.headers).end();
  if (reply instanceof Csv || reply instanceof Download)
    return sendFile(req, res.status(status), reply);
  return sendJson(res, status, JSON.stringify(reply), {});
}

export function sendJson(
  res: Response,
  status: number,
  text: string | readonly string[],
  headers: Record<string, string>,
): void {
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  for (const name in headers) res.setHeader(name, headers[name]!);
  // Not writeHead: with the headers sent by end(), Node knows the length of the body, and writes
  // all in one piece instead of as chunks.
  //
  // Short answers wait for the end of the turn, so that requests that arrived together are answered
  // together: waking up a client costs more than writing an answer.
  if (typeof text === 'string' && text.length <= MAX_WAITING_CHARS)
    return void setImmediate(end, res, text);
  const texts = typeof text === 'string' ? [text] : text;
  res.end(borrowBytes(texts, res) ?? texts.join(''));
}

/** Nothing may be thrown here, outside of all requests. */
function end(res: Response, text: string): void {
  if (res.writableEnded) return;
  try {
    res.end(text);
  } catch {
    res.destroy();
  }
}

async function sendFile(req: Request, res: Response, reply: Csv | Download): Promise<void> {
  res.attachment(reply.file_name).type(reply.media_type);
  if (reply instanceof Download) res.set('Content-Length', String(reply.bytes));
  if (req.method === 'HEAD') {
    reply.stream.destroy();
    return void res.end();
  }
  // A client that disconnects or stops reading ends the statement too: the stream is destroyed with
  // the response.
  const disconnection = new AbortController();
  res.once('close', () => {
    reply.stream.destroy();
    disconnection.abort();
  });
  // Until the first rows are read, an error can still be sent as a problem.
  await once(reply.stream, 'readable', { signal: disconnection.signal }).catch((error: unknown) => {
    if (!disconnection.signal.aborted) throw error;
  });
  if (disconnection.signal.aborted) return;
  res.setTimeout(STALLED_MS, () => res.destroy());
  return pipeline(reply.stream, res);
}

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
