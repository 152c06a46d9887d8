import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { parseHostList, placeOf, type Host, type HostList, type Target } from './host-list';

// Finds the serving host of a database URL. A host that fails is suspect: the next connection asks
// all hosts at the same time, and the one that serves is remembered.

/** How long a host may take to answer, unless connect_timeout is set. */
const HOST_TIMEOUT_MS = 2_000;
/** After a failed search, connections fail for this long without another search. */
const SEARCH_AGAIN_MS = 100;

/** No host serves: all are down, or none matches target_session_attrs. */
export class NoHost extends Error {
  /** SQLSTATE of libpq: the connection cannot be established. */
  readonly code = '08001';
}

export interface HostError extends Error {
  place?: string;
}

export interface Endable {
  destroy(): void;
}

export class Hosts {
  readonly list: HostList;
  private good: Host | undefined;
  private searching: Promise<Host> | undefined;
  private failed: { at: number; error: unknown } | undefined;
  private readonly open = new Map<Endable, Host>();

  constructor(url: string) {
    this.list = parseHostList(url);
    if (!this.many) this.good = this.list.hosts[0];
  }

  get many(): boolean {
    return this.list.hosts.length > 1;
  }

  get timeout_ms(): number {
    return this.list.connect_timeout_ms ?? HOST_TIMEOUT_MS;
  }

  /** Returns the host to connect to. Throws if none serves. */
  async find(): Promise<Host> {
    if (this.good) return this.good;
    if (this.failed && Date.now() - this.failed.at < SEARCH_AGAIN_MS) throw this.failed.error;
    this.searching ??= this.search().finally(() => (this.searching = undefined));
    return this.searching;
  }

  /** Makes the next connection search again, because this host may no longer serve. */
  suspect(host: Host): void {
    if (this.many && this.good === host) this.good = undefined;
  }

  opened(connection: Endable, host: Host): void {
    this.open.set(connection, host);
  }

  closed(connection: Endable): void {
    this.open.delete(connection);
  }

  private async search(): Promise<Host> {
    const { hosts, target } = this.list;
    const over = new AbortController();
    const found = hosts.map((host) => this.ask(host, over.signal));
    try {
      const good = await (
        target === 'any' || target === 'prefer-standby'
          ? firstInOrder(found, target)
          : Promise.any(found.map(wanted))
      ).catch((error: unknown) => this.noHost(error));
      this.good = good.host;
      this.failed = undefined;
      this.endOthers(good.host);
      return good.host;
    } catch (error) {
      this.failed = { at: Date.now(), error };
      throw error;
    } finally {
      over.abort();
    }
  }

  /** Connections to a host that died silently would wait for an answer. */
  private endOthers(good: Host): void {
    for (const [connection, host] of this.open) if (host !== good) connection.destroy();
  }

  private async ask(host: Host, over: AbortSignal): Promise<Asked> {
    const { connectionString, target } = this.list;
    const client = new Client({ connectionString, connectionTimeoutMillis: this.timeout_ms });
    client.on('error', () => undefined);
    over.addEventListener('abort', () => client.connection.stream.destroy());
    Object.assign(client, host);
    const role = roleOf(client);
    try {
      await client.connect();
      const found = await role();
      return { host, is_wanted: accepts(target, found), is_standby: found.is_standby };
    } catch (error) {
      throw named(error, host);
    } finally {
      void client.end().catch(() => undefined);
    }
  }

  /**
   * The error of a host that does not answer explains more than that of a host in the wrong role.
   */
  private noHost(error: unknown): never {
    const errors = (error instanceof AggregateError ? error.errors : [error]) as HostError[];
    const { hosts, target } = this.list;
    const places = hosts.map(placeOf).join(', ');
    const down = errors.filter((each) => !(each instanceof NotWanted));
    if (down.length === errors.length && down.length === 1) throw down[0]!;
    const reasons = errors.map((each) => `${each.place}: ${each.message || String(each)}`);
    throw new NoHost(
      `none of ${places} serves with target_session_attrs=${target} (${reasons.join('; ')})`,
      { cause: down[0] },
    );
  }
}

interface Asked {
  host: Host;
  is_wanted: boolean;
  is_standby: boolean;
}

/** The server answers, but does not match target_session_attrs. */
class NotWanted extends Error {
  constructor(readonly place: string) {
    super('is not in that state');
  }
}

const wanted = async (asking: Promise<Asked>): Promise<Asked> => {
  const asked = await asking;
  if (!asked.is_wanted) throw new NotWanted(placeOf(asked.host));
  return asked;
};

/**
 * The first host of the list that answers; with prefer-standby, the first standby if there is one.
 */
async function firstInOrder(asking: readonly Promise<Asked>[], target: Target): Promise<Asked> {
  const answered: Asked[] = [];
  const errors: unknown[] = [];
  const all = asking.map((each) => each.catch((error: unknown) => void errors.push(error)));
  for (const each of all) {
    const asked = await each;
    if (asked && (target === 'any' || asked.is_standby)) return asked;
    if (asked) answered.push(asked);
  }
  if (answered[0]) return answered[0];
  throw new AggregateError(errors);
}

export interface Role {
  is_standby: boolean;
  is_read_only: boolean;
}

/** A message of the server that the types of the driver leave out. */
interface Reported {
  parameterName: string;
  parameterValue: string;
}

/**
 * Listens to the parameters that the server reports at the start of a session and on change. If it
 * does not report them, as behind some poolers, they are queried.
 */
export function roleOf(client: Client): () => Promise<Role> {
  const reported = new Map<string, string>();
  client.connection.on('parameterStatus', ({ parameterName, parameterValue }: Reported) =>
    reported.set(parameterName, parameterValue),
  );
  return async () => {
    const is_standby = reported.get('in_hot_standby');
    const is_read_only = reported.get('default_transaction_read_only');
    if (is_standby !== undefined && is_read_only !== undefined)
      return { is_standby: is_standby === 'on', is_read_only: is_read_only === 'on' };
    const { rows } = await client.query<{ transaction_read_only: string }>(READ_ONLY);
    const is_on = rows[0]?.transaction_read_only === 'on';
    return { is_standby: is_on, is_read_only: is_on };
  };
}

/** Also on for a standby. */
export const READ_ONLY = 'SHOW transaction_read_only';

/** True if a server matches the target. Every server matches prefer-standby. */
export function accepts(target: Target, { is_standby, is_read_only }: Role): boolean {
  switch (target) {
    case 'read-write':
      return !is_standby && !is_read_only;
    case 'read-only':
      return is_standby || is_read_only;
    case 'primary':
      return !is_standby;
    case 'standby':
      return is_standby;
    default:
      return true;
  }
}

export function named(error: unknown, host: Host): unknown {
  if (error instanceof Error) (error as HostError).place ??= placeOf(host);
  return error;
}

const known = new Map<string, Hosts>();

/**
 * The hosts of a URL, shared by all connections of the process, which thus know the serving one.
 */
export function hostsOf(url: string): Hosts {
  const hosts = known.get(url) ?? new Hosts(url);
  known.set(url, hosts);
  return hosts;
}

export const pauseUnless = (ms: number, signal: AbortSignal): Promise<void> =>
  pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
