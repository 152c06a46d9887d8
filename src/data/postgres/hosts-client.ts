import { Client, type ClientConfig, type PoolConfig } from 'pg';
import type { Host } from './host-list';
import {
  matchesTarget,
  findHosts,
  attachHost,
  NoHost,
  pauseUntilStopped,
  READ_ONLY,
  watchRole,
  type Hosts,
} from './hosts';

export interface HostsConfig extends Omit<ClientConfig, 'host' | 'port'> {
  connectionString: string;
}

/** The server takes no writes any more, or shuts down. */
const SERVER_CHANGED = new Set(['25006', '57P01', '57P02', '57P03']);
const READ_ONLY_TRANSACTION = '25006';

/**
 * A connection to the serving host of a database URL. All connections of the product are of this
 * class; pools create them.
 */
export class HostsClient extends Client {
  private readonly hosts: Hosts;
  private connectedHost: Host | undefined;
  /** True after the server has refused a write, which another host may take. */
  is_read_only = false;

  constructor(config: HostsConfig) {
    const hosts = findHosts(config.connectionString);
    const { connectionString, connect_timeout_ms } = hosts.list;
    const limits = [config.connectionTimeoutMillis, connect_timeout_ms];
    if (hosts.many) limits.push(hosts.timeout_ms);
    const connectionTimeoutMillis = Math.min(...limits.flatMap((limit) => limit || []));
    super({
      ...config,
      connectionString,
      ...(Number.isFinite(connectionTimeoutMillis) && { connectionTimeoutMillis }),
    });
    this.hosts = hosts;
    // The current or next query reports that the connection was lost. Without a listener, an idle
    // connection would end the process.
    this.on('error', () => undefined);
  }

  override connect(): Promise<Client>;
  override connect(
    callback: ((error: Error) => void) | ((error: null, client: Client) => void),
  ): void;
  override connect(callback?: (error: never, client: Client) => void): Promise<Client> | void {
    const connecting = this.connectToHost();
    if (!callback) return connecting;
    connecting.then(
      (client) => callback(null as never, client),
      (error: unknown) => callback(error as never, this),
    );
  }

  private async connectToHost(): Promise<Client> {
    const host = await this.hosts.find();
    this.connectedHost = host;
    Object.assign(this, host);
    const role = watchRole(this);
    this.watchErrors(host);
    try {
      await super.connect();
      const { target } = this.hosts.list;
      if (target !== 'any' && !matchesTarget(target, await role())) {
        // The pool does not end what it could not connect.
        void super.end().catch(() => undefined);
        throw new NoHost(`the server is not ${target}`);
      }
    } catch (error) {
      this.hosts.suspect(host);
      throw attachHost(error, host);
    }
    this.hosts.addConnection(this, host);
    this.once('end', () => this.hosts.removeConnection(this));
    return this;
  }

  private watchErrors(host: Host): void {
    this.connection.on('error', () => this.hosts.suspect(host));
    this.connection.on('errorMessage', ({ code }: { code?: string }) => {
      if (code === undefined || !SERVER_CHANGED.has(code)) return;
      this.is_read_only ||= code === READ_ONLY_TRANSACTION;
      this.hosts.suspect(host);
    });
  }

  /** Ends the connection at once, because its server does not answer. */
  destroy(): void {
    this.connection.stream.destroy();
  }

  /** Makes the next connection look for the serving host again. */
  suspectHost(): void {
    if (this.connectedHost) this.hosts.suspect(this.connectedHost);
  }
}

/** Casts a class of connections to the type that pools expect; pools pass their own options. */
export const toPoolClient = (client: typeof HostsClient): NonNullable<PoolConfig['Client']> =>
  client as unknown as NonNullable<PoolConfig['Client']>;

const LOOK_MS = 1_000;
const ANSWER_MS = 3_000;

/**
 * With several hosts, checks every second that the host in use still serves. A host that died
 * silently is noticed before its connections are: once another one serves, they are ended.
 */
export async function watchHosts(connectionString: string, stopping: AbortSignal): Promise<void> {
  const hosts = findHosts(connectionString);
  if (!hosts.many) return;
  while (!stopping.aborted) {
    const client = new HostsClient({ connectionString, query_timeout: ANSWER_MS, keepAlive: true });
    client.on('error', () => client.suspectHost());
    try {
      await client.connect();
      while (!stopping.aborted) {
        await client.query(READ_ONLY);
        await pauseUntilStopped(LOOK_MS, stopping);
      }
    } catch {
      client.suspectHost();
      await hosts.find().catch(() => undefined);
    }
    await client.end().catch(() => undefined);
    await pauseUntilStopped(LOOK_MS / 4, stopping);
  }
}
