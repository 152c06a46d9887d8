import { StartError } from '../../platform/start-error';
import { parseHostList, formatHost } from './host-list';
import { NoHost, type HostError } from './hosts';

interface ConnectionError extends HostError {
  code?: string;
  /** One error for each address of the host that was tried. */
  errors?: ConnectionError[];
}

interface Target {
  host: string;
  user: string;
  database: string;
}

/** Messages with the remedy, by the code of PostgreSQL or of the system. */
const FAULTS: Record<string, (target: Target) => string> = {
  '28P01': ({ user, host }) => `${host} refuses the password of the user "${user}"; correct it`,
  '3D000': ({ database, host }) =>
    `${host} has no database "${database}"; create it, or correct the name`,
  '42501': ({ user, database }) =>
    `the user "${user}" lacks a right in the database "${database}"; make it the owner`,
  '53300': ({ host }) =>
    `${host} has no connection left; raise its max_connections, or lower DATABASE_POOL_SIZE`,
  '57P01': ({ host }) => `${host} ended the connection; is it stopping? Try again in a moment`,
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

/** Describes a database for people, without its password. */
export function databaseName(url: string): string {
  const { hosts, user, database } = parseHostList(url);
  return `"${database}" at ${hosts.map(formatHost).join(', ')}, as the user "${user}"`;
}

export const serverName = (url: string): string =>
  parseHostList(url).hosts.map(formatHost).join(', ');

/** Explains why the URL of a variable cannot be used; returns any other error unchanged. */
export function connectionFault(
  url: string | undefined,
  error: unknown,
  variable = 'DATABASE_URL',
): unknown {
  if (url === undefined) return error;
  const { message, code: ownCode, errors, hostAddress } = error as ConnectionError;
  const code =
    (ownCode ?? errors?.[0]?.code ?? '') ||
    (/^Connection terminated|is not queryable$/.test(message) ? 'ECONNRESET' : '') ||
    (/timeout expired|connection timeout/.test(message) ? 'ETIMEDOUT' : '');
  const { hosts, user, database } = parseHostList(url);
  const host = hostAddress ?? formatHost(hosts[0]!);
  if (error instanceof NoHost) return new StartError(`${variable}: ${message} (${code}).`);
  const fault = FAULTS[code];
  if (fault) return new StartError(`${variable}: ${fault({ host, user, database })} (${code}).`);
  // Class 28: the server refuses the user, for one of many reasons that it gives itself.
  if (!code.startsWith('28')) return error;
  return new StartError(`${variable}: ${host} refuses the user: ${message} (${code}).`);
}
