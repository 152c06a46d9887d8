import { type LookupAddress, promises as dns } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { errorWithCode } from './exchange';

/** Returns every address of a name. Rejects with ENOTFOUND or ETIMEDOUT. */
export type Lookup = (hostname: string) => Promise<LookupAddress[]>;

interface ResolverOptions {
  /** Addresses of name servers, with ports; default: those of the system. */
  servers?: readonly string[];
  hosts_file?: string;
  /** Limit of one attempt. */
  timeout_ms?: number;
}

const TIMEOUT_MS = 2_000;
const TRIES = 2;
const HOSTS_FILE =
  process.platform === 'win32' ? 'C:/Windows/System32/drivers/etc/hosts' : '/etc/hosts';
/** How long the content of a hosts file is cached. */
const HOSTS_FOR_MS = 5_000;

/**
 * Resolves names by the hosts file and by DNS. Node's own lookup occupies a thread while a name
 * server is slow: four slow names would stop all other lookups and file operations.
 */
export function createNameResolver({
  servers,
  hosts_file = HOSTS_FILE,
  timeout_ms = TIMEOUT_MS,
}: ResolverOptions = {}): Lookup {
  const resolver = new dns.Resolver({ timeout: timeout_ms, tries: TRIES });
  if (servers) resolver.setServers(servers);
  const hosts = createHostsLoader(hosts_file);
  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    const localAddresses = (await hosts()).get(name) ?? resolveLocalhost(name);
    return localAddresses ?? (await queryNameServers(resolver, name));
  };
}

async function queryNameServers(resolver: dns.Resolver, name: string): Promise<LookupAddress[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = answers.flatMap((answer) =>
    answer.status === 'fulfilled' ? answer.value : [],
  );
  if (addresses.length > 0) return addresses.map(toLookupAddress);
  const codes = answers.map(
    (answer) => answer.status === 'rejected' && (answer.reason as NodeJS.ErrnoException).code,
  );
  throw errorWithCode(codes.includes('ETIMEOUT') ? 'ETIMEDOUT' : 'ENOTFOUND');
}

/** RFC 6761: never sent to a name server. */
const resolveLocalhost = (name: string): LookupAddress[] | undefined =>
  name === 'localhost' || name.endsWith('.localhost')
    ? ['127.0.0.1', '::1'].map(toLookupAddress)
    : undefined;

const toLookupAddress = (address: string): LookupAddress => ({ address, family: isIP(address) });

/** Loads the names of a hosts file, and again when it may have changed. */
function createHostsLoader(path: string): () => Promise<Map<string, LookupAddress[]>> {
  let read: Promise<Map<string, LookupAddress[]>> | undefined;
  let until = 0;
  return () => {
    if (!read || Date.now() > until) {
      until = Date.now() + HOSTS_FOR_MS;
      read = readFile(path, 'utf8').then(parseHosts, () => new Map());
    }
    return read;
  };
}

/** Parses lines of an address and its names, with comments after `#`. */
function parseHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names.map((hostName) => hostName.toLowerCase()))
      hosts.set(name, [...(hosts.get(name) ?? []), toLookupAddress(address)]);
  }
  return hosts;
}
