import { Agent, createServer, type RequestListener, type Server } from 'node:http';

// Each application that a test file sends requests to listens once, and its connections are kept:
// a server and a connection for each request take as long as the request.

const servers = new Map<object, Server>();
const agent = new Agent({ keepAlive: true });

/** A server of this application, until the test file ends. */
export function serverFor(app: object): Server {
  if (app instanceof Object && 'listening' in app) return app as Server;
  const existing = servers.get(app);
  if (existing) return existing;
  const server = createServer(app as RequestListener);
  // The client closes connections: one that the server ends may be in use again.
  server.keepAliveTimeout = 0;
  // Without a host it listens at once; otherwise supertest would listen, and close, by itself.
  server.listen(0).unref();
  servers.set(app, server);
  return server;
}

export const keptConnections = agent;

export function closeServers(): void {
  for (const server of servers.values()) server.close().closeAllConnections();
  servers.clear();
}
