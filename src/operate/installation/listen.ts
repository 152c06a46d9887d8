import type { Server } from 'node:http';
import { createServer } from 'node:net';
import type { Config } from '../../platform/config';
import { StartError } from '../../platform/start-error';

type Address = Pick<Config, 'port' | 'host'>;

const FAULTS: Record<string, (address: Address) => string> = {
  EADDRINUSE: ({ port }) =>
    `Port ${port} is used by another program. Stop it, or set PORT to another port.`,
  EACCES: ({ port }) =>
    `Port ${port} needs rights that this user does not have: set PORT to 1024 or more, behind a ` +
    'proxy that listens there.',
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
  return new StartError(`HOST=${address.host}, PORT=${address.port} cannot be used (${code}).`);
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
