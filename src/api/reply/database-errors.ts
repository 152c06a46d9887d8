import { HttpProblem } from '../../platform/errors';

const CODES = new Set([
  // Node.js: the connection failed or broke.
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EHOSTUNREACH'],
  ...['EAI_AGAIN', 'ENETUNREACH'],
  // PostgreSQL: stopping or starting, canceled, out of resources, connection, read-only,
  // serialization and locks, no such database.
  ...['57P01', '57P02', '57P03', '57014', '53000', '53200', '53300', '53400'],
  ...['08000', '08001', '08003', '08004', '08006', '25006', '40001', '40P01', '55P03', '3D000'],
  // Prisma: the same, and its transactions.
  ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034', 'P2037'],
]);
/**
 * Codes while a cell moves to another node (src/operate/cells/) and its tables and functions with
 * it: no such table, function or type, and requests that Citus refuses.
 */
const CODES_OF_MOVES = ['42P01', '42883', '42704', '3F000', '0A000', 'P2021', 'P2022'];

/** Treats the errors of moving cells as an unavailable database, from this call on. */
export const expectMoves = (): void => CODES_OF_MOVES.forEach((code) => CODES.add(code));

/** Errors of pg and of Prisma that have no code. */
const MESSAGES = new RegExp(
  [
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Query read timeout',
    'Connection terminated',
    'terminating connection',
    'Client has encountered a connection error',
    'not queryable',
    'Client was closed',
    'Transaction (API error|already closed)',
    'Unable to start a transaction',
    // PgBouncer, which has one code for all of its errors: PostgreSQL is gone, or it is full.
    'query_wait_timeout',
    'server_login_retry',
    'server conn crashed',
    'server connection closed',
    'server shutting down',
    'obsolete connection',
    'connect (string changed|timeout|failed)',
    'database configuration changed',
    'client_login_timeout',
    'bouncer resources exhaustion',
    'no more connections allowed',
    'client connections exceeded',
  ].join('|'),
);
/** Kinds of errors of Prisma's driver adapter. */
const KINDS = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
  'TransactionWriteConflict',
  'DatabaseDoesNotExist',
]);
/** How deep errors are wrapped in each other. */
const MAX_DEPTH = 5;

interface DatabaseError {
  code?: string;
  originalCode?: string;
  kind?: string;
  message?: unknown;
  cause?: unknown;
  meta?: { driverAdapterError?: unknown };
}

/** Checks the error, and the errors that it wraps. */
function matchesAny(
  error: unknown,
  { codes, kinds, messages }: { codes: ReadonlySet<string>; kinds: Set<string>; messages: RegExp },
  depth = 0,
): boolean {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return false;
  const { code, originalCode, kind, message, cause, meta } = error as DatabaseError;
  if (code && codes.has(code)) return true;
  if (originalCode && codes.has(originalCode)) return true;
  if (kind && kinds.has(kind)) return true;
  if (typeof message === 'string' && messages.test(message)) return true;
  const inner = { codes, kinds, messages };
  return (
    matchesAny(cause, inner, depth + 1) || matchesAny(meta?.driverAdapterError, inner, depth + 1)
  );
}

/** The database cannot serve now, but may a moment later. */
export const isUnavailable = (error: unknown): boolean =>
  matchesAny(error, { codes: CODES, kinds: KINDS, messages: MESSAGES });

const NEVER = /(?!)/;
const REPEAT = ' Try again; a POST repeated with its Idempotency-Key has only one effect.';

/** Problems by the errors that indicate them. Any other error means that the database is away. */
const BUSY = [
  {
    code: 'contended',
    detail: 'Other requests are changing the same records, and this one has waited too long.',
    codes: new Set(['40001', '40P01', '55P03', 'P2034']),
    kinds: new Set(['TransactionWriteConflict']),
    messages: NEVER,
  },
  {
    code: 'unavailable',
    detail: 'The database has taken too long for a statement of this request.',
    codes: new Set(['57014', 'P1008']),
    kinds: new Set(['SocketTimeout']),
    messages: /Query read timeout|query_wait_timeout/,
  },
  {
    code: 'unavailable',
    detail:
      'No connection to the database was free in time: all are in use, or it does not answer.',
    codes: new Set(['53300', 'P2024', 'P2028', 'P2037']),
    kinds: new Set(['TooManyConnections']),
    messages:
      /exceeded when trying to connect|Unable to start a transaction|no more connections allowed|client connections exceeded|bouncer resources exhaustion/,
  },
  {
    code: 'unavailable',
    detail: 'The database can only be read at the moment: nothing was changed.',
    codes: new Set(['25006']),
    kinds: new Set<string>(),
    messages: NEVER,
  },
  {
    code: 'unavailable',
    detail: 'The database has no memory, or no room for locks, for this request.',
    codes: new Set(['53000', '53200', '53400']),
    kinds: new Set<string>(),
    messages: NEVER,
  },
] as const;

/** Without an error, the database cannot be reached. */
export function unavailable(error?: unknown): HttpProblem {
  const { code, detail } = BUSY.find((busy) => matchesAny(error, busy)) ?? {
    code: 'unavailable' as const,
    detail: 'The database cannot be reached.',
  };
  return new HttpProblem(code, detail + REPEAT, { headers: { 'Retry-After': '2' } });
}

/** Codes of PostgreSQL, and of Node.js for a disk and for a disk quota. */
const FULL = new Set(['53100', 'ENOSPC', 'EDQUOT']);

/** The error, or one that it wraps, means a full disk. */
export function isDiskFull(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return false;
  const { code, originalCode, cause, meta } = error as DatabaseError;
  if (FULL.has(code ?? '') || FULL.has(originalCode ?? '')) return true;
  return isDiskFull(cause, depth + 1) || isDiskFull(meta?.driverAdapterError, depth + 1);
}

export const diskFull = (): HttpProblem =>
  new HttpProblem(
    'disk_full',
    'The disk is full: nothing was stored. The operator of this installation must make room.',
    { headers: { 'Retry-After': '60' } },
  );

/** Codes of PostgreSQL for text with U+0000 or unpaired surrogates, or that is not UTF-8. */
const UNSTORABLE_TEXT = new Set(['22P05', '22021']);

/**
 * A value to be written is not allowed. Errors about unstorable text do not count: no request gets
 * that far with such text (src/api/request/well-formed.ts), so they are about what was read.
 */
export function isBadValue(error: unknown): boolean {
  const state = readSqlState(error);
  if (!state?.startsWith('22') || UNSTORABLE_TEXT.has(state)) return false;
  return !(state === '22P02' && JSON_SYNTAX_MESSAGE.test(String((error as DatabaseError).message)));
}

const JSON_SYNTAX_MESSAGE = /invalid input syntax for type jsonb?\b/;

/** Searches the wrapped errors too. */
export function readSqlState(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return undefined;
  const { code, originalCode, cause, meta } = error as DatabaseError;
  const isState = code && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('P');
  const state = originalCode ?? (isState ? code : undefined);
  return (
    state ?? readSqlState(cause, depth + 1) ?? readSqlState(meta?.driverAdapterError, depth + 1)
  );
}
