import type { IncomingMessage } from 'node:http';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { HttpProblem } from '../../platform/errors';
import { readForm, type FormCharset } from './parameters';
import { hasTooManyValues } from './well-formed';

/**
 * The largest body without credentials of a company in header or query string: anyone can send one.
 * The data of a lead has at most as much.
 */
const UNKNOWN_CALLER_BODY_BYTES = 65_536;

export const bodyLimit = (isKnown: boolean, maxBodyBytes: number): number =>
  isKnown ? maxBodyBytes : Math.min(UNKNOWN_CALLER_BODY_BYTES, maxBodyBytes);

export const bodyTooLarge = (limit: number): HttpProblem =>
  new HttpProblem('body_too_large', `The body is larger than ${limit} bytes.`);

/** Reads JSON or a form into req.body; a compressed one counts as what it expands to. */
export type BodyReader = (req: Request, res: Response, isKnown: boolean) => Promise<void>;

const FORM = 'application/x-www-form-urlencoded';

export function bodyReader({ max_body_bytes }: { max_body_bytes: number }): BodyReader {
  const createParsers = (isKnown: boolean): RequestHandler[] => {
    const limit = bodyLimit(isKnown, max_body_bytes);
    return [
      express.json({ limit, strict: false, verify: requireFewValues }),
      express.text({ limit, type: FORM, verify: measure }),
    ];
  };
  const [ofKnown, ofUnknown] = [createParsers(true), createParsers(false)];
  return async (req, res, isKnown) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = req.headers;
    if (length === undefined && encoding === undefined) return;
    const limit = bodyLimit(isKnown, max_body_bytes);
    // The library would read all of it before it refuses it.
    if (Number(length ?? 0) > limit) throw bodyTooLarge(limit);
    // The parsers would treat such a request as one without a body, and it would run.
    if (!req.socket.readable)
      throw new HttpProblem('malformed_body', 'The connection ended before the body was read.');
    const isForm = Boolean(req.is(FORM));
    const charset = isForm ? readCharset(req) : 'utf-8';
    for (const parser of isKnown ? ofKnown : ofUnknown) await run(parser, req, res);
    if (isForm && typeof req.body === 'string') req.body = readForm(req.body, charset);
  };
}

/** Throws 413 for a body that is larger than one may be without credentials of the company. */
export function requireSmallBody({ headers, body_bytes = 0 }: Request): void {
  if (Math.max(Number(headers['content-length'] ?? 0), body_bytes) > UNKNOWN_CALLER_BODY_BYTES)
    throw bodyTooLarge(UNKNOWN_CALLER_BODY_BYTES);
}

function measure(req: IncomingMessage, _res: unknown, { length }: Buffer): void {
  (req as Request).body_bytes = length;
}

/** Throws the type of error that the error handler knows: the library gives it another status. */
function requireFewValues(req: IncomingMessage, res: unknown, body: Buffer): void {
  measure(req, res, body);
  if (hasTooManyValues(body)) throw Object.assign(new Error(), { type: 'values.too.many' });
}

function readCharset(req: Request): FormCharset {
  const [, charsetName = 'utf-8'] =
    /charset="?([\w-]{1,40})/i.exec(req.headers['content-type']!) ?? [];
  const charset = charsetName.toLowerCase();
  if (charset === 'utf-8' || charset === 'iso-8859-1') return charset;
  throw new HttpProblem(
    'unsupported_media_type',
    'The charset of a form must be utf-8 or iso-8859-1.',
  );
}

const run = (parser: RequestHandler, req: Request, res: Response): Promise<void> =>
  new Promise((done, fail) =>
    parser(req, res, (error?: unknown) => (error ? fail(error as Error) : done())),
  );
