import { userInfo } from 'node:os';
import { StartError } from '../start-error';

interface ConnectionError extends Error {
  code?: string;
  /** Of an attempt on several addresses of a host: one error for each. */
  errors?: ConnectionError[];
}

interface Target {
  host: string;
  user: string;
  database: string;
}

/** By the code of PostgreSQL or of the system, what is wrong and what to do. */
const FAULTS: Record<string, (target: Target) => string> = {
  '28P01': ({ user, host }) => `${host} refuses the password of the user "${user}"; correct it`,
  '3D000': ({ database, host }) =>
    `${host} has no database "${database}"; create it, or correct the name`,
  '42501': ({ user, database }) =>
    `the user "${user}" lacks a right in the database "${database}"; make it the owner`,
  '53300': ({ host }) =>
    `${host} has no connection left; raise its max_connections, or lower DATABASE_POOL_SIZE`,
  '57P03': ({ host }) => `${host} is starting or stopping; try again in a moment`,
  ENOTFOUND: ({ host }) => `the host ${host} is unknown; correct it`,
  EAI_AGAIN: ({ host }) => `the host ${host} cannot be looked up; correct it, or check the DNS`,
  ECONNREFUSED: ({ host }) =>
    `nothing listens at ${host}; start PostgreSQL there, or correct host and port`,
  ECONNRESET: ({ host }) => `${host} closed the connection; is PostgreSQL there?`,
  EHOSTUNREACH: ({ host }) => `${host} cannot be reached; check host and network`,
  ENETUNREACH: ({ host }) => `${host} cannot be reached; check host and network`,
  ETIMEDOUT: ({ host }) => `${host} does not answer; check host, port and firewall`,
};

/** Names a database for people, without its password. */
export function databaseName(url: string): string {
  const { user, host, database } = targetOf(url);
  return `"${database}" at ${host}, as the user "${user}"`;
}

/** Names the server of a URL. */
export const serverName = (url: string): string => targetOf(url).host;

/**
 * The reason why the URL of a variable cannot be used; any other error is returned unchanged.
 */
export function connectionFault(
  url: string | undefined,
  error: unknown,
  variable = 'DATABASE_URL',
): unknown {
  if (url === undefined) return error;
  const { message, code: own, errors } = error as ConnectionError;
  const code =
    (own ?? errors?.[0]?.code ?? '') ||
    (/timeout expired|connection timeout/.test(message) ? 'ETIMEDOUT' : '');
  const target = targetOf(url);
  const fault = FAULTS[code];
  if (fault) return new StartError(`${variable}: ${fault(target)} (${code}).`);
  // Class 28: the server refuses the user, for one of many reasons that it names itself.
  if (!code.startsWith('28')) return error;
  return new StartError(`${variable}: ${target.host} refuses the user: ${message} (${code}).`);
}

function targetOf(url: string): Target {
  const { hostname, port, username, pathname, searchParams } = new URL(url);
  const socket = searchParams.get('host') ?? decoded(hostname);
  const user = decoded(username) || userInfo().username;
  return {
    user,
    host: socket.startsWith('/') ? socket : `${socket || 'localhost'}:${port || 5432}`,
    database: decoded(pathname.slice(1)) || user,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
