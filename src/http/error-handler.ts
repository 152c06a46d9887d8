import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler, Request } from 'express';
import type { Logger } from 'pino';
import { facets, contract, type Facets, type Operation, type Schemas } from '../contract';
import { notFound, HttpProblem, type FieldErrors } from '../errors';
import { FORMATS } from './validate';

/** The one shape of every error: RFC 9457, and what clients of such services read (success, message, errors). */
export type Problem = Schemas['Problem'];

interface ValidatorFault {
  path: string;
  message: string;
  errorCode?: string;
}

/** What the libraries in the way of a request throw. */
interface Thrown {
  status?: number;
  code?: string;
  type?: string;
  message?: string;
  errors?: ValidatorFault[];
  headers?: Record<string, string>;
  meta?: { target?: string[]; driverAdapterError?: { cause?: AdapterCause } };
  cause?: unknown;
  limit?: number;
  errno?: unknown;
}
interface AdapterCause {
  kind?: string;
  originalCode?: string;
  constraint?: { fields?: string[]; index?: string; foreignKey?: object };
}

const UNAVAILABLE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'EAI_AGAIN',
  'ENETUNREACH',
  '57P01',
  '57P02',
  '57P03',
  '57014',
  '53100',
  '53300',
  '53400',
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '25006',
  '40001',
  '40P01',
  '55P03',
  '3D000',
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2028',
  'P2034',
  'P2037',
]);
const UNAVAILABLE_WORDS =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|terminating connection|Client has encountered a connection error|not queryable|Client was closed|Transaction (API error|already closed)|Unable to start a transaction/;
const UNAVAILABLE_KINDS = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
  'TransactionWriteConflict',
  'DatabaseDoesNotExist',
]);

/** Whether an error says that the database cannot serve now, but may a moment later. */
export function isUnavailable(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 5) return false;
  const thrown = error as Thrown & AdapterCause & { kind?: string };
  if (thrown.code && UNAVAILABLE_CODES.has(thrown.code)) return true;
  if (thrown.originalCode && UNAVAILABLE_CODES.has(thrown.originalCode)) return true;
  if (thrown.kind && UNAVAILABLE_KINDS.has(thrown.kind)) return true;
  if (typeof thrown.message === 'string' && UNAVAILABLE_WORDS.test(thrown.message)) return true;
  return (
    isUnavailable(thrown.cause, depth + 1) ||
    isUnavailable(thrown.meta?.driverAdapterError, depth + 1)
  );
}

/** The one mapping from anything thrown to a refusal; undefined for a fault of our own. */
export function problemFor(error: unknown, operation?: Operation): HttpProblem | undefined {
  if (error instanceof HttpProblem) return error;
  const thrown = error as Thrown;
  if (thrown.type === 'entity.too.large')
    return new HttpProblem(413, `The body is larger than ${thrown.limit} bytes.`);
  if (thrown.type === 'entity.parse.failed')
    return new HttpProblem(400, `The body is not well-formed JSON: ${thrown.message}`);
  if (thrown.type === 'parameters.too.many')
    return new HttpProblem(413, 'The body has too many parameters.');
  if (thrown.type === 'encoding.unsupported' || thrown.type === 'charset.unsupported')
    return new HttpProblem(415, thrown.message ?? 'The body cannot be read.');
  if (thrown.type?.startsWith('request.') || thrown.type === 'stream.encoding.set')
    return new HttpProblem(400, `The body could not be read: ${thrown.message}`);
  if (thrown.status === 415)
    return new HttpProblem(
      415,
      `The body must be sent as ${operation?.media_types.join(' or ') ?? 'JSON'}, with its Content-Type.`,
    );
  if (error instanceof URIError || (thrown.status === 400 && !thrown.errors))
    return new HttpProblem(400, 'The URL or the body cannot be decoded.');
  if (thrown.status === 400) return invalid(thrown.errors ?? [], operation);
  if (isUnavailable(error)) return unavailable();
  if (sqlState(error)?.startsWith('22'))
    return new HttpProblem(422, 'The request holds a value that the database cannot take.');
  return constraint(thrown);
}

/** The SQLSTATE of an error of the database, however it is wrapped. */
function sqlState(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > 5) return undefined;
  const { code, originalCode, cause, meta } = error as Thrown & AdapterCause;
  const own =
    originalCode ??
    (code && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('P') ? code : undefined);
  return own ?? sqlState(cause, depth + 1) ?? sqlState(meta?.driverAdapterError, depth + 1);
}

export const unavailable = (): HttpProblem =>
  new HttpProblem(
    503,
    'The database cannot be reached. Try again; a POST that is repeated under its Idempotency-Key has one effect.',
    {},
    { 'Retry-After': '2' },
  );

/** A constraint of the database that held: the field it is on is the one that carries the meaning, not the company's. */
function constraint({ code, meta }: Thrown): HttpProblem | undefined {
  if (code !== 'P2002' && code !== 'P2003') return undefined;
  const cause = meta?.driverAdapterError?.cause?.constraint;
  const fields = (cause?.fields ?? meta?.target ?? []).map((field) => field.replaceAll('"', ''));
  const named =
    fields.filter((field) => field !== 'company_id').at(-1) ?? fieldOfIndex(cause?.index);
  if (!named) return undefined;
  return HttpProblem.field(
    named,
    code === 'P2002'
      ? 'is taken by another record of yours; it must be unique'
      : 'names no record of yours',
  );
}

const fieldOfIndex = (index?: string): string | undefined =>
  /_company_id_(\w+?)_(?:key|fkey)$/.exec(index ?? '')?.[1];

function invalid(faults: ValidatorFault[], operation?: Operation): HttpProblem {
  if (faults.some(({ path }) => path.startsWith('/params/'))) return notFound();
  const errors: FieldErrors = Object.create(null);
  for (const fault of faults) {
    const field = fieldOf(fault.path);
    const message = say(fault, operation);
    if (message && !(errors[field] ??= []).includes(message)) errors[field].push(message);
  }
  // "must match exactly one schema" and the like only repeat what the faults inside them say better.
  const told = Object.fromEntries(
    Object.entries(errors).filter(([, messages]) => messages.length > 0),
  );
  return (
    HttpProblem.fields(told) ?? new HttpProblem(422, 'The request is not what the contract allows.')
  );
}

/** "/body/business_hours_schedule/0/schedule" → "business_hours_schedule.0.schedule" */
function fieldOf(path: string): string {
  return (
    path
      .split('/')
      .slice(2)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .join('.') ||
    path.split('/')[1] ||
    'body'
  );
}

function say(
  { path, message, errorCode = '' }: ValidatorFault,
  operation?: Operation,
): string | undefined {
  const keyword = errorCode.split('.')[0];
  if (message.startsWith('Unknown query parameter')) return 'is not a parameter of this operation';
  if (message.startsWith('Empty value')) return 'must not be empty';
  if (keyword === 'unevaluatedProperties' || keyword === 'additionalProperties')
    return isFile(path, operation) ? AS_FILE : 'is not a field of this operation';
  if (keyword === 'required') return path === '/body' ? 'must be sent' : 'must be given';
  if (keyword === 'oneOf' || keyword === 'anyOf' || keyword === 'allOf' || keyword === 'if')
    return undefined;
  const format = /must match format "(.+)"/.exec(message)?.[1];
  if (format && FORMATS[format]) return FORMATS[format].allowed;
  if (keyword === 'type') return `must be ${typeWords(facetsAt(path, operation), message)}`;
  return message;
}

const AS_FILE = 'must be sent as a file, in a body of multipart/form-data';
const isFile = (path: string, operation?: Operation): boolean =>
  operation?.multipart !== undefined && fieldOf(path) in facets(operation.multipart).properties;

function typeWords(found: Facets | undefined, message: string): string {
  const words =
    found &&
    [...found.types].map((type) =>
      type === 'null'
        ? 'blank'
        : `${type === 'integer' || type === 'array' || type === 'object' ? 'an' : 'a'} ${type}`,
    );
  return words?.length ? words.join(' or ') : message.replace(/^must be /, '');
}

/** The facets of the schema a validator's path points at. */
function facetsAt(path: string, operation?: Operation): Facets | undefined {
  const [, place, first, ...rest] = path.split('/');
  if (!operation || !first) return undefined;
  const start =
    place === 'body'
      ? operation.body && facets(operation.body).properties[first]
      : operation.parameters.find(({ name }) => name === first)?.schema;
  let at = start && facets(contract.resolve(start));
  for (const step of rest) {
    const next = /^\d+$/.test(step) ? at?.items : at?.properties[step];
    at = next && facets(next);
  }
  return at;
}

export function problemOf(refusal: HttpProblem, req: Request): Problem {
  const { status, detail, errors } = refusal;
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    instance: req.originalUrl.split('?')[0] ?? '',
    success: false,
    message: detail,
    errors,
    request_id: req.id,
  };
}

/** Answers anything thrown. A fault of our own is logged with its stack and answered without it. */
export function errorHandler(log: Logger): ErrorRequestHandler {
  return (error, req, res, next) => {
    const operation = res.locals.operation as Operation | undefined;
    const refusal = problemFor(error, operation);
    if (!refusal || refusal.status >= 500)
      log.error({ err: error, request_id: req.id }, refusal ? 'unavailable' : 'fault');
    if (res.headersSent) return next(error);
    const answer =
      refusal ??
      new HttpProblem(500, 'A fault of the service. The request_id finds it in the log.');
    res
      .status(answer.status)
      .set(answer.headers)
      .type('application/problem+json')
      .send(JSON.stringify(problemOf(answer, req)));
  };
}
