import type { IncomingMessage } from 'node:http';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { JAMBONZ_SIGNATURE } from '../../platform/carriers/jambonz-signature';
import { HttpProblem } from '../../platform/errors';
import type { FormCharset } from './escapes';
import { readForm } from './parameters';
import { hasLongInteger, hasTooManyValues, parseJson, tryJson } from './well-formed';

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
const JSON_TYPE = 'application/json';

/** Browsers send a text, as `sendBeacon` does, without a type or as text/plain. */
export const isUntyped = (type: string | undefined): boolean =>
  type === undefined || /^\s*(?:text\/plain\b|$)/i.test(type);

const isText = (req: IncomingMessage): boolean =>
  isUntyped(req.headers['content-type']) || Boolean((req as Request).is(FORM));

export function bodyReader({ max_body_bytes }: { max_body_bytes: number }): BodyReader {
  const createParsers = (isKnown: boolean): RequestHandler[] => {
    const limit = bodyLimit(isKnown, max_body_bytes);
    return [
      express.json({ limit, strict: false, verify: requireFewValues }),
      express.text({ limit, type: isText, verify: measure }),
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
    if (isForm && typeof req.body === 'string') {
      req.form_text = req.body;
      req.body = readForm(req.body, charset);
    } else if (isUntyped(req.headers['content-type'])) readUntyped(req);
    else if (req.json_text !== undefined) req.body = parseJson(req.json_text);
    // Without its body, a request would do less than its sender wants, or nothing.
    else if (req.body === undefined && length !== '0') throw unreadable();
  };
}

/** Begins with a name and an equals sign; JSON and XML do not. */
const FORM_TEXT = /^[^=&<>{}"\r\n]{1,200}=/;

/** Finds out whether a text is JSON or a form. Throws 415 for any other. */
function readUntyped(req: Request): void {
  const text = typeof req.body === 'string' ? req.body.trim() : '';
  // A form cannot be JSON, and a large one may have more commas than JSON may have values.
  const json = text === '' || FORM_TEXT.test(text) ? undefined : tryJson(text);
  if (json) [req.body, req.body_type] = [json.value, JSON_TYPE];
  else if (text === '') req.body = undefined;
  else [req.body, req.body_type] = [readForm(toFormText(text), 'utf-8'), FORM];
}

/** A page may also send its form as text/plain: a field on each line, not encoded. */
function toFormText(text: string): string {
  const lines = text.split(/\r\n|\r|\n/);
  if (!lines.every((line) => FORM_TEXT.test(line))) throw unreadable();
  if (lines.length === 1) return text;
  const pairs = lines.map((line) => [line.split('=', 1)[0]!, line.slice(line.indexOf('=') + 1)]);
  return pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
}

const unreadable = (): HttpProblem =>
  new HttpProblem(
    'unsupported_media_type',
    `The body must be JSON or a form, sent with its Content-Type: ${JSON_TYPE}, ${FORM} or` +
      ' multipart/form-data.',
  );

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
  if (hasLongInteger(body)) (req as Request).json_text = body.toString();
  if (JAMBONZ_SIGNATURE in req.headers) (req as Request).signed_text = body.toString();
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
