import { userInfo } from 'node:os';

// The hosts of a database URL, in the syntax of libpq, which the driver does not know:
// postgresql://user:password@host1:5432,host2:5433/name?target_session_attrs=read-write

export interface Host {
  /** A name, an address, or the folder of a Unix socket. */
  host: string;
  port: number;
}

/** Values of libpq's target_session_attrs. */
export const TARGETS = [
  'any',
  'read-write',
  'read-only',
  'primary',
  'standby',
  'prefer-standby',
] as const;
export type Target = (typeof TARGETS)[number];

export interface HostList {
  hosts: readonly Host[];
  target: Target;
  connect_timeout_ms: number | undefined;
  user: string;
  database: string;
  /** The URL of the first host, for the driver; the others differ only in host and port. */
  connectionString: string;
}

const MAX_HOSTS = 20;
const DEFAULT_PORT = 5432;
/** Parameters that this file reads and the driver does not need. */
const OWN_PARAMETERS = ['host', 'port', 'target_session_attrs', 'connect_timeout'];

/** Reads a database URL. Throws an error that explains its form. */
export function parseHostList(url: string): HostList {
  const parts = /^(postgres(?:ql)?:\/\/)([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(url);
  if (!parts || url.endsWith('://')) throw buildUrlError();
  const [, scheme = '', authority = '', path = '', query = ''] = parts;
  const at = authority.lastIndexOf('@') + 1;
  const user = authority.slice(0, at);
  const params = new URLSearchParams(query);
  const hosts = parseHosts(authority.slice(at), params);
  const [first] = hosts;
  const rest = new URLSearchParams([...params].filter(([name]) => !OWN_PARAMETERS.includes(name)));
  if (first!.host.startsWith('/')) rest.set('host', first!.host);
  const firstAddress = first!.host.startsWith('/')
    ? `localhost:${first!.port}`
    : formatHost(first!);
  const tail = rest.size > 0 ? `?${String(rest)}` : '';
  const connectionString = `${scheme}${user}${firstAddress}${path}${tail}`;
  if (!URL.canParse(connectionString)) throw buildUrlError();
  const name = decode(new URL(connectionString).username) || userInfo().username;
  return {
    hosts,
    target: parseTarget(params.get('target_session_attrs')),
    connect_timeout_ms: parseTimeout(params.get('connect_timeout')),
    user: name,
    database: decode(path.slice(1)) || name,
    connectionString,
  };
}

/** Host and port as URLs write them; for a Unix socket, its folder. */
export const formatHost = ({ host, port }: Host): string => {
  if (host.startsWith('/')) return host;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
};

function parseHosts(authority: string, params: URLSearchParams): Host[] {
  const paramNames = params.get('host')?.split(',');
  const authorityHosts = authority.split(',').map((text) => {
    const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]*)(?::(\d*))?$/.exec(text);
    if (!match) throw buildUrlError();
    return { name: decode(match[1]!.replace(/^\[|\]$/g, '')), port: match[2] ?? '' };
  });
  const names = paramNames ?? authorityHosts.map(({ name }) => name);
  const ports = params.get('port')?.split(',') ?? authorityHosts.map(({ port }) => port);
  if (names.length > MAX_HOSTS) throw new Error(`must name at most ${MAX_HOSTS} hosts`);
  if (ports.length > 1 && ports.length !== names.length)
    throw new Error(`must have one port for each host, not ${ports.length} for ${names.length}`);
  return names.map((name, n) => ({
    host: name || 'localhost',
    port: parsePort(ports.length === 1 ? ports[0]! : ports[n]!),
  }));
}

function parsePort(text: string): number {
  const port = text === '' ? DEFAULT_PORT : Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error(`must have ports from 1 to 65535, not "${text}"`);
  return port;
}

function parseTarget(text: string | null): Target {
  const target = TARGETS.find((candidate) => candidate === (text ?? 'any'));
  if (!target)
    throw new Error(`must have a target_session_attrs of ${TARGETS.join(', ')}, not "${text}"`);
  return target;
}

function parseTimeout(text: string | null): number | undefined {
  if (text === null) return undefined;
  const seconds = Number(text);
  if (!/^\d{1,4}$/.test(text))
    throw new Error(`must have a connect_timeout of whole seconds, 0 for none, not "${text}"`);
  return seconds === 0 ? undefined : seconds * 1000;
}

const buildUrlError = (): Error =>
  new Error(
    'must be a URL such as postgresql://user:password@host:5432/name; ' +
      'in user and password, write / ? # @ : and % as %2F %3F %23 %40 %3A and %25; ' +
      'several hosts are separated by commas: host1:5432,host2:5432',
  );

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
