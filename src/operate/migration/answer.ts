import { cutText } from '../../platform/storable-text';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { request } from 'undici';
import { limitBytes, readBytes, TooLarge } from '../../platform/bounded-reading';

// Sends one request to the other service. Its answer is untrusted: size, time, type and text are
// checked.

/** The other service does not offer a resource, at least not to these credentials. */
export class NotOffered extends Error {
  constructor(readonly status: number) {
    super(`the other service answers ${status}`);
  }
}

/** The other service refuses a request, and a retry would not change that. */
export class Refused extends Error {}

/**
 * The answer of the other service cannot be used. The message completes a sentence that begins with
 * its address.
 */
export class BadAnswer extends Error {}

export interface AnswerLimits {
  /** Bytes of a page, before and after unpacking. */
  bytes: number;
  /** For a page, from connecting to its last byte. */
  ms: number;
  /** Longest Retry-After that is respected. */
  waitMs: number;
}

/** The JSON of an answer, or the fault if a retry may help. */
export type Attempt = { body: unknown } | { fault: string; waitMs?: number | undefined };

const NOT_OFFERED = new Set([403, 404, 405, 501]);
const MEGABYTE = 1_000_000;
/** Bytes to read of an ignored body, so that the connection can be used again. */
const IGNORED_BYTES = 16_384;

/** Throws NotOffered, Refused or BadAnswer if a retry does not help. */
export async function attempt(
  url: string,
  authorization: string,
  limits: AnswerLimits,
): Promise<Attempt> {
  const signal = AbortSignal.timeout(limits.ms);
  try {
    const { statusCode, headers, body } = await request(url, {
      headers: { authorization, accept: 'application/json', 'accept-encoding': 'gzip' },
      signal,
    });
    if (statusCode >= 200 && statusCode < 300)
      return { body: await readJson(body, headers, limits) };
    await body.dump({ limit: IGNORED_BYTES, signal });
    return judgeStatus(statusCode, headers, limits);
  } catch (error) {
    if (error instanceof NotOffered || error instanceof Refused || error instanceof BadAnswer)
      throw error;
    const seconds = Math.ceil(limits.ms / 1_000);
    return { fault: signal.aborted ? `took longer than ${seconds} s` : describe(error) };
  }
}

type Headers = Record<string, string | string[] | undefined>;

const readHeader = (headers: Headers, name: string): string =>
  [headers[name] ?? ''].flat().join(',').trim().toLowerCase();

function judgeStatus(status: number, headers: Headers, { waitMs }: AnswerLimits): Attempt {
  if (NOT_OFFERED.has(status)) throw new NotOffered(status);
  if (status < 400)
    throw new BadAnswer(
      `answers ${status}, which leads to another address. Redirects are not followed: the ` +
        'credentials would go there too. Give the address itself with --from',
    );
  if (status !== 429 && status < 500) throw new Refused(`answers ${status}`);
  const header = readHeader(headers, 'retry-after');
  const wait = readRetryAfter(header);
  if (wait !== undefined && wait > waitMs)
    throw new BadAnswer(
      `answers ${status} and asks to be left alone for longer than ${waitMs / 60_000} minutes ` +
        `(Retry-After: ${cutText(header, 40)}). Run the command again after that`,
    );
  return { fault: `answers ${status}`, waitMs: wait };
}

/** Milliseconds; the header has seconds or a date. */
function readRetryAfter(header: string): number | undefined {
  if (header === '') return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}

async function readJson(
  body: Readable,
  headers: Headers,
  { bytes: maxBytes }: AnswerLimits,
): Promise<unknown> {
  const type = readHeader(headers, 'content-type').split(';')[0]!.trim();
  const encoding = readHeader(headers, 'content-encoding');
  // A body that is not read to its end fails again when it is closed.
  body.on('error', () => undefined);
  try {
    if (type !== '' && !/[/+]json$/.test(type))
      throw new BadAnswer(`answers with ${cutText(type, 40)}, not with JSON`);
    const bytes = await readBytes(unpack(body, encoding, maxBytes), maxBytes);
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    body.destroy();
    if (error instanceof TooLarge)
      throw new BadAnswer(
        `has more than ${maxBytes / MEGABYTE} MB. Ask for fewer records at a time with --per-page`,
      );
    if (error instanceof SyntaxError) throw new BadAnswer('does not answer with JSON');
    if ((error as { code?: string }).code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      throw new BadAnswer('answers with text that is not UTF-8');
    throw error;
  }
}

/** Only the requested encoding: each further layer can multiply the bytes by a thousand. */
function unpack(body: Readable, encoding: string, maxBytes: number): Readable {
  if (encoding === '' || encoding === 'identity') return body;
  if (encoding !== 'gzip' && encoding !== 'x-gzip')
    throw new BadAnswer(`is packed with ${cutText(encoding, 40)}, which was not asked for`);
  return pipeline(limitBytes(body, maxBytes), createGunzip(), () => undefined);
}

/** Errors of Node have a code, and sometimes no message. */
function describe(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code !== undefined && !message.includes(code) ? `${code} ${message}`.trim() : message;
}
