import type { ErrorRequestHandler, Request, Response } from 'express';
import type { Logger } from 'pino';
import type { Operation, Schemas } from '../../platform/contract/contract';
import {
  HttpProblem,
  leadTokenTaken,
  MAX_FAULTS,
  type FieldFault,
  type FieldFaults,
} from '../../platform/errors';
import { ErrorOfRequest } from '../../platform/log';
import { decodeEscapes } from '../request/escapes';
import { buildProblemBody } from '../../platform/problem-body';
import type { Caller } from '../auth/caller';
import { diskFull, isBadValue, isDiskFull, isUnavailable, unavailable } from './database-errors';
import { bodyTooLarge } from '../request/read-body';
import { violatedColumn } from './violated-key';
import { StorageUnavailable } from '../../platform/storage/storage';
import { tooManyValues } from '../request/well-formed';
import { isContractWord } from '../log-url';

/** Every error: RFC 9457, with fields for existing clients (success, message, errors). */
export type Problem = Schemas['Problem'];

interface LibraryError {
  status?: number;
  code?: string;
  type?: string;
  message?: string;
  limit?: number;
}

/** The parts of a request that were set when the error was thrown. */
interface PartialRequest {
  operation?: Operation;
  caller?: Caller;
}

/** The problem for anything thrown; undefined for an internal error. */
export function problemFor(
  error: unknown,
  { operation, caller }: PartialRequest = {},
): HttpProblem | undefined {
  if (error instanceof HttpProblem) return error;
  if (error instanceof StorageUnavailable) return storageUnavailable();
  const thrown = error as LibraryError;
  return (
    bodyProblem(thrown) ??
    urlProblem(error, thrown) ??
    databaseProblem(error, operation) ??
    constraintProblem(thrown, caller)
  );
}

/** Errors of Express's body parsers. */
function bodyProblem({ type, limit, message }: LibraryError): HttpProblem | undefined {
  switch (type) {
    case 'entity.too.large':
      return bodyTooLarge(limit!);
    case 'values.too.many':
      return tooManyValues();
    case 'entity.parse.failed':
      return new HttpProblem('malformed_body', `The body is not well-formed JSON: ${message}`);
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return new HttpProblem('unsupported_media_type', message ?? 'The body cannot be read.');
    default:
      return type?.startsWith('request.') || type === 'stream.encoding.set'
        ? new HttpProblem('malformed_body', `The body could not be read: ${message}`)
        : undefined;
  }
}

/** Errors of the router. */
const urlProblem = (error: unknown, { status }: LibraryError): HttpProblem | undefined =>
  error instanceof URIError || status === 400
    ? new HttpProblem('malformed_request', 'The URL or the body cannot be decoded.')
    : undefined;

function databaseProblem(error: unknown, operation?: Operation): HttpProblem | undefined {
  if (isDiskFull(error)) return diskFull();
  if (isUnavailable(error)) return unavailable(error);
  // A failed read is about stored data, which the caller cannot correct.
  return operation && isWrite(operation) && isBadValue(error)
    ? new HttpProblem('invalid_value', 'The request has a value that the database cannot store.')
    : undefined;
}

const isWrite = ({ method, effect }: Operation): boolean => method !== 'get' || effect;

function constraintProblem(error: LibraryError, caller?: Caller): HttpProblem | undefined {
  const { code } = error;
  if (code !== 'P2002' && code !== 'P2003') return undefined;
  const column = violatedColumn(error);
  const field = column === undefined ? undefined : (FIELD_BY_COLUMN[column] ?? column);
  if (!field) return undefined;
  // Lead tokens are unique in the installation, and who has one is secret.
  if (code === 'P2002' && field === 'lead_token') return leadTokenTaken();
  return code === 'P2002'
    ? HttpProblem.field(field, 'taken', caller?.teams ? TAKEN_BY_ANY : TAKEN_BY_YOURS)
    : HttpProblem.field(field, 'unknown_reference', 'names no record of yours');
}

const FIELD_BY_COLUMN: Record<string, string> = { id: 'legacy_id', token: 'lead_token' };

const TAKEN_BY_YOURS = 'is taken by another record of yours; it must be unique';
/** For callers who may not see the other record. */
const TAKEN_BY_ANY = 'is not free; it must be unique, so choose another';

interface AnsweredRequest {
  /** The path of the request. */
  instance: string;
  request_id: string;
}

export function problemBody(
  problem: HttpProblem,
  { instance, request_id }: AnsweredRequest,
): Problem {
  const { status, code, detail, faults, fault_count } = problem;
  return buildProblemBody({
    ...{ status, code, detail, instance, request_id },
    errors: byField(faults, ({ message }) => message),
    error_codes: byField(faults, ({ code }) => code),
    error_count: fault_count > MAX_FAULTS ? fault_count : undefined,
  });
}

const byField = <T>(faults: FieldFaults, of: (fault: FieldFault) => T): Record<string, T[]> =>
  Object.fromEntries(
    Object.entries(faults).map(([field, fieldFaults]) => [field, fieldFaults.map(of)]),
  );

const answeredRequest = ({ originalUrl, id }: Request): AnsweredRequest => ({
  instance: originalUrl.split('?')[0] ?? '',
  request_id: id,
});

const storageUnavailable = (): HttpProblem =>
  new HttpProblem(
    'storage_unavailable',
    'The storage of files cannot be reached. Nothing was changed. Try again.',
    { headers: { 'Retry-After': '5' } },
  );

const internalError = (): HttpProblem =>
  new HttpProblem(
    'internal_error',
    'Internal error. The log has the details under this request_id.',
  );

function pickLogMessage({ headersSent }: Response, problem: HttpProblem | undefined): string {
  if (headersSent) return 'the answer was cut off';
  return problem ? 'unavailable' : 'internal error';
}

/** Replies with the problem for what was thrown. Details of an internal error are only logged. */
export function errorHandler(log: Logger): ErrorRequestHandler {
  return (error, req, res, next) => {
    const problem = problemFor(error, res.locals as PartialRequest);
    if (!problem || problem.status >= 500 || res.headersSent) {
      const err = new ErrorOfRequest(error, collectRequestValues(req));
      log.error({ err, request_id: req.id }, pickLogMessage(res, problem));
    }
    // Express recognizes an error handler by its four parameters; `next` would print the error.
    void next;
    if (res.headersSent) return void res.destroy();
    const sentProblem = problem ?? internalError();
    res
      .status(sentProblem.status)
      .set({ 'Cache-Control': 'no-store', ...sentProblem.headers })
      .type('application/problem+json')
      .send(JSON.stringify(problemBody(sentProblem, answeredRequest(req))));
  };
}

/** Shorter ones are parts of any message. */
const MIN_CHARS = 3;
const MAX_VALUES = 2_000;
const MAX_DEPTH = 32;

/**
 * The texts and longer numbers that a request sent: in its path, its query string, its headers and
 * its body, decoded. They are masked in logged errors. Undefined when they are too many to search
 * for.
 */
function collectRequestValues(req: Request): string[] | undefined {
  const texts = new Set<string>();
  for (const part of req.originalUrl.split(/[/?&=]/)) collect(decodeEscapes(part, 'utf-8'), texts);
  for (const header of Object.values(req.headers).flat())
    for (const text of listHeaderTexts(header)) collect(text, texts);
  const isComplete = collect(req.body, texts);
  return isComplete ? [...texts] : undefined;
}

/** A header, its parts, and what they are in plain text. */
function listHeaderTexts(header = ''): string[] {
  const parts = header.split(/[\s,;="]+/);
  const plain = parts.map((part) => Buffer.from(part, 'base64').toString());
  return [header, ...parts, ...plain, ...plain.flatMap((text) => text.split(':'))];
}

/** Returns false when there is more than was collected. */
function collect(value: unknown, texts: Set<string>, depth = 0): boolean {
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value).trim();
    if (text.length >= MIN_CHARS && !isContractWord(text)) texts.add(text);
  }
  if (typeof value !== 'object' || value === null) return texts.size < MAX_VALUES;
  if (depth >= MAX_DEPTH) return false;
  return Object.entries(value).every(
    // Names of lead data are chosen by the sender.
    ([key, inner]) => collect(key, texts, depth + 1) && collect(inner, texts, depth + 1),
  );
}
