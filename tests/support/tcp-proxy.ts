import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP port that stands for another, whose connections a test can break. */
export interface TcpProxy {
  port: number;
  /** Breaks all connections, and refuses new ones. */
  cut(): void;
  /** Lets connections stay open and new ones be opened, but passes nothing on. */
  freeze(): void;
  /** Passes everything on again; what was frozen is closed. */
  restore(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(host: string, port: number): Promise<TcpProxy> {
  let state: 'open' | 'cut' | 'frozen' = 'open';
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((accepted) => {
    const near = keep(accepted);
    if (state === 'cut') near.resetAndDestroy();
    if (state !== 'open') return;
    const far = keep(connect({ host, port }));
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const breakAll = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      state = 'cut';
      breakAll();
    },
    freeze: () => {
      state = 'frozen';
      for (const socket of sockets) socket.unpipe().pause();
    },
    restore: () => {
      if (state === 'frozen') breakAll();
      state = 'open';
    },
    close: () => {
      breakAll();
      return new Promise((done) => server.close(() => done()));
    },
  };
}
