import { createServer, type Server } from 'node:http';
import type { Express } from 'express';
import type { Deps } from '../../domain/deps';
import { limitConnections } from '../../api/connections';
import { messageClasses } from '../../api/message-classes';
import { answerUnreadable, MAX_HEADER_BYTES } from '../../api/request/unreadable-requests';

const HOUR_MS = 3_600_000;
/** How long clients are asked to leave (Connection: close) before the listener closes. */
const CLOSE_NOTICE_MS = 250;
/** Like CLOSE_NOTICE_MS, for a replaced process: active clients send a request by then. */
const RETIRE_NOTICE_MS = 5_000;
/** How long requests that are running may take after the notice of a stop. */
const STOP_TIMEOUT_MS = 7_000;

export interface HttpServer {
  server: Server;
  /** From now on, asks clients to close their connections. */
  closeConnections(): void;
  /** Completes the requests that are running, then closes the listener. */
  stop(): Promise<void>;
  /** Like `stop`, with a longer notice and without a time limit, for a replaced process. */
  retire(): Promise<void>;
}

export function httpServer(deps: Pick<Deps, 'config' | 'log'>, app: Express): HttpServer {
  // An hour is for uploads; other bodies get a minute (src/api/request/body-timeout.ts).
  const timeouts = { headersTimeout: 5_000, requestTimeout: HOUR_MS, keepAliveTimeout: 65_000 };
  const limits = { maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false };
  const server = createServer({ ...messageClasses(app), ...timeouts, ...limits }, app);
  answerUnreadable(server, deps.log);
  const { max_connections: max, trust_proxy } = deps.config;
  // Behind a proxy, all clients have its address.
  limitConnections(server, { max, ...(trust_proxy === 0 && { max_per_address: max / 2 }) });
  let closing = false;
  // Prepended: the header must be set before the application replies.
  server.prependListener(
    'request',
    (_req, res) => void (closing && res.setHeader('Connection', 'close')),
  );
  return {
    server,
    closeConnections: () => void (closing = true),
    stop: async () => {
      // A client that has stopped reading must not keep the database running.
      const timeout = setTimeout(
        () => server.closeAllConnections(),
        CLOSE_NOTICE_MS + STOP_TIMEOUT_MS,
      );
      await close(server, CLOSE_NOTICE_MS);
      clearTimeout(timeout);
    },
    retire: async () => {
      closing = true;
      await close(server, RETIRE_NOTICE_MS);
    },
  };
}

/** Closes the listener after a notice, and each connection once it is idle. */
async function close(server: Server, noticeMs: number): Promise<void> {
  await new Promise((done) => setTimeout(done, noticeMs));
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  await new Promise((done) => server.close(done));
  clearInterval(idle);
}
