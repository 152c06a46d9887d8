import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import {
  createGuardedRequest,
  type OutgoingRequest,
} from '../../src/platform/egress/guarded-request';
import type { Lookup } from '../../src/platform/egress/resolve-names';
import { patient } from './patience';

export const LOOPBACK = ['127.0.0.0/8', '::1'];

/** True if this machine has an IPv6 loopback address. */
export const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

const opened: (() => unknown)[] = [];

/** Call in afterEach: closes everything that was opened here. */
export async function closeLoopback(): Promise<void> {
  for (const close of opened.splice(0)) await close();
}

/** Closes something with the rest, after the requests have ended. */
export const closeLater = (close: () => unknown): void => void opened.push(close);

/** Lets a server listen on loopback. */
export async function listen(server: Server, host = '127.0.0.1', port = 0) {
  await new Promise<void>((done, fail) => server.once('error', fail).listen(port, host, done));
  const { port: bound } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  return { port: bound, url: `http://127.0.0.1:${bound}`, close };
}

/** A server on loopback that counts its connections. */
export async function listenOnLoopback(
  listener: RequestListener,
  host = '127.0.0.1',
  port = 0,
): Promise<{ port: number; connections: () => number; close: () => void }> {
  let connections = 0;
  const server = createServer(listener).on('connection', () => connections++);
  const { port: bound } = await listen(server, host, port);
  const close = () => void server.close().closeAllConnections();
  closeLater(close);
  return { port: bound, connections: () => connections, close };
}

/** Sends requests through the guard. */
export function createGuardedClient(allowNetworks: string[] = [], lookup?: Lookup) {
  const send = createGuardedRequest({ allow_networks: allowNetworks, lookup });
  opened.unshift(send.close);
  return (url: string, more: Partial<OutgoingRequest> = {}) =>
    send({ url, method: 'GET', headers: {}, timeout_ms: patient(2_000), ...more });
}

/** A lookup in which every name has these addresses. */
export const names =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
