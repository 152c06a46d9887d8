import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { toNetwork } from './auth/address';

export interface ConnectionLimits {
  max: number;
  /** Connections at a time from one address; absent behind a proxy, where all have one address. */
  max_per_address?: number | undefined;
}

/** Time of a client to read its answer, in addition to the time at MIN_BYTES_PER_SECOND. */
const GRACE_MS = 30_000;
const MIN_BYTES_PER_SECOND = 16_384;
const SWEEP_MS = 5_000;

/** The bytes that a client must have read, and the time limit. */
interface ReadDeadline {
  /** Position in all bytes of the connection. */
  bytes: number;
  at: number;
}

/** Limits the connections of a server, and closes those whose client does not read its answer. */
export function limitConnections(
  server: Server,
  { max, max_per_address = Infinity }: ConnectionLimits,
): void {
  server.maxConnections = max;
  const due = new Map<Socket, ReadDeadline | undefined>();
  const byAddress = new Map<string, number>();
  server.on('connection', (socket) => {
    const address = toNetwork(socket.remoteAddress ?? '');
    const openConnections = byAddress.get(address) ?? 0;
    if (openConnections >= max_per_address) return void socket.destroy();
    byAddress.set(address, openConnections + 1);
    due.set(socket, undefined);
    socket.once('close', () => {
      due.delete(socket);
      const left = byAddress.get(address)! - 1;
      if (left > 0) byAddress.set(address, left);
      else byAddress.delete(address);
    });
  });
  const sweep = setInterval(() => closeSlowReaders(due, performance.now()), SWEEP_MS).unref();
  server.once('close', () => clearInterval(sweep));
}

/** Closes connections that are overdue, and sets a time for those that have something to read. */
export function closeSlowReaders(due: Map<Socket, ReadDeadline | undefined>, now: number): void {
  for (const [socket, set] of due) {
    const waiting = socket.writableLength;
    const isRead = set !== undefined && socket.bytesWritten - waiting >= set.bytes;
    if (set && !isRead && now > set.at) socket.destroy();
    else if (waiting === 0) due.set(socket, undefined);
    else if (!set || isRead) {
      const seconds = waiting / MIN_BYTES_PER_SECOND;
      due.set(socket, { bytes: socket.bytesWritten, at: now + GRACE_MS + seconds * 1000 });
    }
  }
}
