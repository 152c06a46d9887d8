import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { parseHostList, formatHost, type Host, type HostList, type Target } from './host-list';

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
  hostAddress?: string;
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

  addConnection(connection: Endable, host: Host): void {
    this.open.set(connection, host);
  }

  removeConnection(connection: Endable): void {
    this.open.delete(connection);
  }

  private async search(): Promise<Host> {
    const { hosts, target } = this.list;
    const over = new AbortController();
    const answers = hosts.map((host) => this.ask(host, over.signal));
    try {
      const good = await (
        target === 'any' || target === 'prefer-standby'
          ? firstInOrder(answers, target)
          : Promise.any(answers.map(requireTarget))
      ).catch((error: unknown) => this.throwNoHost(error));
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

  private async ask(host: Host, over: AbortSignal): Promise<HostAnswer> {
    const { connectionString, target } = this.list;
    const client = new Client({ connectionString, connectionTimeoutMillis: this.timeout_ms });
    client.on('error', () => undefined);
    over.addEventListener('abort', () => client.connection.stream.destroy());
    Object.assign(client, host);
    const role = watchRole(client);
    try {
      await client.connect();
      const serverRole = await role();
      return {
        host,
        isAccepted: matchesTarget(target, serverRole),
        is_standby: serverRole.is_standby,
      };
    } catch (error) {
      throw attachHost(error, host);
    } finally {
      void client.end().catch(() => undefined);
    }
  }

  /**
   * The error of a host that does not answer explains more than that of a host in the wrong role.
   */
  private throwNoHost(error: unknown): never {
    const errors = (error instanceof AggregateError ? error.errors : [error]) as HostError[];
    const { hosts, target } = this.list;
    const addresses = hosts.map(formatHost).join(', ');
    const down = errors.filter((hostError) => !(hostError instanceof HostRejected));
    if (down.length === errors.length && down.length === 1) throw down[0]!;
    const reasons = errors.map(
      (hostError) => `${hostError.hostAddress}: ${hostError.message || String(hostError)}`,
    );
    throw new NoHost(
      `none of ${addresses} serves with target_session_attrs=${target} (${reasons.join('; ')})`,
      { cause: down[0] },
    );
  }
}

interface HostAnswer {
  host: Host;
  isAccepted: boolean;
  is_standby: boolean;
}

/** The server answers, but does not match target_session_attrs. */
class HostRejected extends Error {
  constructor(readonly hostAddress: string) {
    super('is not in that state');
  }
}

const requireTarget = async (asking: Promise<HostAnswer>): Promise<HostAnswer> => {
  const answer = await asking;
  if (!answer.isAccepted) throw new HostRejected(formatHost(answer.host));
  return answer;
};

/**
 * The first host of the list that answers; with prefer-standby, the first standby if there is one.
 */
async function firstInOrder(
  asking: readonly Promise<HostAnswer>[],
  target: Target,
): Promise<HostAnswer> {
  const answered: HostAnswer[] = [];
  const errors: unknown[] = [];
  const all = asking.map((request) => request.catch((error: unknown) => void errors.push(error)));
  for (const request of all) {
    const answer = await request;
    if (answer && (target === 'any' || answer.is_standby)) return answer;
    if (answer) answered.push(answer);
  }
  if (answered[0]) return answered[0];
  throw new AggregateError(errors);
}

export interface Role {
  is_standby: boolean;
  is_read_only: boolean;
}

/** A message of the server that the types of the driver leave out. */
interface ParameterStatus {
  parameterName: string;
  parameterValue: string;
}

/**
 * Listens to the parameters that the server reports at the start of a session and on change. If it
 * does not report them, as behind some poolers, they are queried.
 */
export function watchRole(client: Client): () => Promise<Role> {
  const reported = new Map<string, string>();
  client.connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) =>
    reported.set(parameterName, parameterValue),
  );
  return async () => {
    const isStandby = reported.get('in_hot_standby');
    const isReadOnly = reported.get('default_transaction_read_only');
    if (isStandby !== undefined && isReadOnly !== undefined)
      return { is_standby: isStandby === 'on', is_read_only: isReadOnly === 'on' };
    const { rows } = await client.query<{ transaction_read_only: string }>(READ_ONLY);
    const isOn = rows[0]?.transaction_read_only === 'on';
    return { is_standby: isOn, is_read_only: isOn };
  };
}

/** Also on for a standby. */
export const READ_ONLY = 'SHOW transaction_read_only';

/** True if a server matches the target. Every server matches prefer-standby. */
export function matchesTarget(target: Target, { is_standby, is_read_only }: Role): boolean {
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

export function attachHost(error: unknown, host: Host): unknown {
  if (error instanceof Error) (error as HostError).hostAddress ??= formatHost(host);
  return error;
}

const hostsByUrl = new Map<string, Hosts>();

/**
 * The hosts of a URL, shared by all connections of the process, which thus know the serving one.
 */
export function findHosts(url: string): Hosts {
  const hosts = hostsByUrl.get(url) ?? new Hosts(url);
  hostsByUrl.set(url, hosts);
  return hosts;
}

export const pauseUntilStopped = (ms: number, signal: AbortSignal): Promise<void> =>
  pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
