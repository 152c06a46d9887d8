import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import type { AriConnection, Connect } from './ari';
import { isAllowed, listen } from '../../service/door';
import { openConnection } from './socket';

export interface ServerSettings {
  host: string;
  port: number;
  /** The user of websocket_client.conf that Asterisk says it is, `user:password`. */
  key: string;
}

export interface AriServer {
  connect: Connect;
  close(): Promise<void>;
}

/** Lets Asterisk connect to this process (20.15, 22.5 or later); requests go by the same socket. */
export async function createAriServer({ host, port, key }: ServerSettings): Promise<AriServer> {
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: pickProtocol });
  const http = createServer((_, response) => response.writeHead(404).end());
  const waiting: ((connection: AriConnection) => void)[] = [];
  const unused: AriConnection[] = [];
  http.on('upgrade', (request, stream, head) => {
    if (!isAllowed(request, key)) {
      stream.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) => {
      const connection = openConnection(socket);
      const take = waiting.shift();
      if (take) return take(connection);
      // A new one takes the turn of one that is not used yet.
      for (const former of unused.splice(0)) former.close();
      unused.push(connection);
    });
  });
  await listen(http, host, port);
  return {
    connect: (signal) =>
      new Promise((done, fail) => {
        const next = unused.shift();
        if (next) return done(next);
        waiting.push(done);
        const stop = () => fail(new Error('this process ends'));
        signal.addEventListener('abort', stop, { once: true });
      }),
    close: () =>
      new Promise((done) => {
        for (const client of sockets.clients) client.terminate();
        http.close(() => done());
      }),
  };
}

/** Asterisk asks for the protocol "ari". */
const pickProtocol = (protocols: Set<string>): string | false =>
  protocols.has('ari') ? 'ari' : false;
