import cluster from 'node:cluster';
import { cutText } from './storable-text';
import { traceId } from './telemetry/tracing';
import pino, { type DestinationStream, type Logger } from 'pino';

// The log of the process. No line has a header, a body, or a value of customer data: a logged error
// says what failed and where, not with which values.

export interface LoggedError {
  type: string;
  message: string;
  stack?: string;
  causes?: LoggedError[];
  [detail: string]: unknown;
}

const MASK = '***';
/** How deep logged errors are nested. */
const MAX_DEPTH = 5;
const MAX_CAUSES = 5;
const MAX_MESSAGE_CHARS = 1_000;
const MAX_FRAMES = 20;

/** Properties of errors of Node.js, PostgreSQL, Prisma and SMTP; each a word or an address. */
const DETAILS = [
  ...['code', 'syscall', 'hostname', 'address', 'port', 'severity', 'schema', 'table', 'column'],
  ...['dataType', 'constraint', 'routine', 'status', 'responseCode', 'originalCode', 'kind'],
] as const;
const DETAIL = /^[\w.:-]{1,100}$/;

interface NestedErrors {
  cause?: unknown;
  errors?: unknown;
  meta?: { driverAdapterError?: unknown };
}

/** An error of a request. The values that the request sent are masked in it. */
export class ErrorOfRequest {
  readonly described: LoggedError;

  /** Without `values` the message is not logged at all. */
  constructor(error: unknown, values: readonly string[] | undefined) {
    this.described = describe(error, values, 0);
  }
}

const serializeError = (error: unknown): LoggedError =>
  error instanceof ErrorOfRequest ? error.described : describe(error, [], 0);

function describe(
  error: unknown,
  hidden: readonly string[] | undefined,
  depth: number,
): LoggedError {
  if (typeof error !== 'object' || error === null) return { type: typeof error, message: MASK };
  const { message, stack } = error as Partial<Error>;
  const { cause, errors, meta } = error as NestedErrors;
  const inner = [cause, meta?.driverAdapterError, ...(Array.isArray(errors) ? errors : [])]
    .filter((candidate) => typeof candidate === 'object' && candidate !== null)
    .slice(0, MAX_CAUSES);
  return {
    type: readTypeName(error),
    message: typeof message === 'string' ? maskMessage(message, hidden) : '',
    ...pickDetails(error, hidden),
    ...(typeof stack === 'string' && { stack: extractFrames(stack, message) }),
    ...(inner.length > 0 &&
      depth < MAX_DEPTH && {
        causes: inner.map((innerError) => describe(innerError, hidden, depth + 1)),
      }),
  };
}

/** Some errors differ by their class alone, others by their name alone. */
function readTypeName({ name, constructor }: Partial<Error> & object): string {
  const type = name && name.toLowerCase() !== 'error' ? name : constructor?.name;
  return type && DETAIL.test(type) ? type : 'Error';
}

function pickDetails(error: object, hidden: readonly string[] | undefined) {
  const details: Record<string, string | number> = {};
  for (const name of DETAILS) {
    const value = (error as Record<string, unknown>)[name];
    if (typeof value === 'number') details[name] = value;
    if (typeof value === 'string' && DETAIL.test(value)) details[name] = hide(value, hidden ?? []);
  }
  return details;
}

/** Only stack frames: the first lines of a stack repeat the message. */
function extractFrames(stack: string, message = ''): string {
  return stack
    .replace(message, '')
    .split('\n')
    .filter((line) => /^\s+at .*(:\d+:\d+\)?|<anonymous>\)?|native\)?)$/.test(line))
    .slice(0, MAX_FRAMES)
    .join('\n');
}

/** PostgreSQL puts names in double quotes, like values. */
const QUOTED_NAME = new RegExp(
  '\\b(relation|table|column|constraint|index|function|type|schema|database|role|trigger|' +
    'sequence|statement|parameter|extension|encoding) "(\\w{1,63})"',
  'g',
);
/** The property in a message such as "Cannot read properties of null (reading 'id')". */
const MISSING_PROPERTY = /\((reading|setting) '([A-Za-z_$][\w$]{0,63})'\)/g;
const IN_SINGLE_QUOTES = /(^|[^\p{L}\p{N}])'.*'/su;
const IN_BACKTICKS = /`(?![\w.$]{1,100}(?:\(\))?`)[^`]*`/g;
const MAIL_ADDRESS = /(?<![^\s@])[^\s@]+@\S+/g;
/** Seven digits or more, however they are separated. */
const LONG_NUMBER = /\+?\d(?:[\s()./-]{0,3}\d){6,}/g;

/**
 * Masks the values in a message: text in quotes, e-mail addresses, long numbers, and `hidden`.
 * Keeps only the last paragraph of a message of Prisma: the others show the arguments of the call.
 */
function maskMessage(message: string, hidden: readonly string[] | undefined): string {
  if (!hidden) return MASK;
  const end = message.startsWith('\nInvalid `') ? message.trim().split('\n').at(-1)! : message;
  const visibleText = hide(end, hidden)
    .replace(QUOTED_NAME, '$1 $2')
    .replace(MISSING_PROPERTY, '($1 $2)');
  const masked = withoutQuoted(visibleText)
    .replace(IN_SINGLE_QUOTES, `$1${MASK}`)
    .replace(IN_BACKTICKS, MASK)
    .replace(MAIL_ADDRESS, MASK)
    .replace(LONG_NUMBER, MASK);
  return cutText(masked, MAX_MESSAGE_CHARS);
}

/** Masks from the first quote to the last: a value may itself have quotes. */
function withoutQuoted(text: string): string {
  const first = text.search(/["“«]/);
  const last = Math.max(...['"', '”', '»'].map((quote) => text.lastIndexOf(quote)));
  return first >= 0 && last > first ? text.slice(0, first) + MASK + text.slice(last + 1) : text;
}

function hide(text: string, hidden: readonly string[]): string {
  const lower = text.toLowerCase();
  const matches = hidden.filter((value) => lower.includes(value.toLowerCase()));
  const longestFirst = matches.toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((rest, value) => rest.replaceAll(wholeWord(value), MASK), text);
}

/** Matches a value, but not inside a longer word. */
function wholeWord(value: string): RegExp {
  const escaped = value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(String.raw`(?<![\p{L}\p{N}])${escaped}(?![\p{L}\p{N}])`, 'giu');
}

/** Lines logged during traced work have its trace id; lines of requests add it themselves. */
function traceOfLine(): object {
  const id = traceId();
  return id === undefined ? {} : { trace_id: id };
}

/**
 * JSON lines, written in batches: a system call for every line would cost more than the line; in a
 * terminal, lines for people.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = { level, base: null, mixin: traceOfLine, serializers: { err: serializeError } };
  return pino(options, destination ?? standardOutput());
}

const standardOutput = (): DestinationStream =>
  process.stdout.isTTY
    ? pino.transport({
        target: 'pino-pretty',
        options: { ignore: 'pid,hostname', singleLine: true },
      })
    : inBatches(pino.destination(1));

const BATCH_MS = 10;
/** Linux writes up to this size to a pipe atomically: lines of several processes must not mix. */
const MAX_SHARED_BYTES = 4_096;

/** Each write costs more than a line. The last batch is written before the process exits. */
function inBatches(output: ReturnType<typeof pino.destination>) {
  let lines = '';
  const flush = () => {
    if (lines !== '') output.write(lines);
    lines = '';
  };
  const flushSync = () => {
    flush();
    output.flushSync();
  };
  process.once('exit', flushSync);
  const isFull = (line: string) =>
    cluster.isWorker && Buffer.byteLength(lines) + Buffer.byteLength(line) > MAX_SHARED_BYTES;
  return {
    write: (line: string) => {
      if (lines !== '' && isFull(line)) flush();
      if (lines === '') setTimeout(flush, BATCH_MS);
      lines += line;
    },
    flushSync,
  };
}
