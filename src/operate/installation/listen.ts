import type { Server } from 'node:http';
import { createServer } from 'node:net';
import type { Config } from '../../platform/config';
import { StartError } from '../../platform/start-error';

export interface Address extends Pick<Config, 'port' | 'host'> {
  /** The variable that sets the port; absent: PORT. */
  port_variable?: string;
}

const FAULTS: Record<string, (address: Address) => string> = {
  EADDRINUSE: ({ port, port_variable = 'PORT' }) =>
    `Port ${port} is used by another program. Stop it, or set ${port_variable} to another port.`,
  EACCES: ({ port, port_variable = 'PORT' }) =>
    `Port ${port} needs rights that this user does not have: set ${port_variable} to 1024 or ` +
    'more, behind a proxy that listens there.',
  EADDRNOTAVAIL: ({ host }) =>
    `HOST=${host} is not an address of this machine: set HOST to 127.0.0.1, to 0.0.0.0 for all ` +
    'its addresses, or to one of them.',
  EAFNOSUPPORT: ({ host }) => `HOST=${host} is an address that this machine does not support.`,
};
FAULTS.ENOTFOUND = FAULTS.EAI_AGAIN = ({ host }) =>
  `HOST=${host} is unknown: set HOST to an IP address of this machine, such as 127.0.0.1.`;

/** Explains why a server cannot listen; returns any other error unchanged. */
export function listenFault(address: Address, error: unknown): unknown {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  const fault = FAULTS[code];
  if (fault) return new StartError(fault(address));
  if (syscall !== 'listen' && syscall !== 'bind') return error;
  const { host, port, port_variable = 'PORT' } = address;
  return new StartError(`HOST=${host}, ${port_variable}=${port} cannot be used (${code}).`);
}

export const listen = (server: Pick<Server, 'once' | 'listen'>, address: Address): Promise<void> =>
  new Promise((done, fail) => {
    server
      .once('error', (error) => fail(listenFault(address, error)))
      .listen(address.port, address.host, () => done());
  });

/** Throws, before anything is made, if a server could not listen. */
export async function checkAddress(address: Address): Promise<void> {
  const probe = createServer();
  await listen(probe as unknown as Server, address);
  await new Promise((done) => probe.close(done));
}
