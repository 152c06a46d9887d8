import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listen } from './loopback';

// Another service that answers as a test says: with pages that are not those of the API.

/** A page: a body that is sent as JSON, or a function that handles the request. */
export type OddPage = { json: unknown } | ((res: ServerResponse, req: IncomingMessage) => unknown);

export interface OddService {
  url: string;
  /** Paths after /api/v1/ that were asked for, with their queries. */
  requestedPaths: string[];
  /** Pages by list; every other list is empty, or missing. */
  lists: Record<string, (position: string, n: number) => OddPage>;
  /** Lists that `lists` does not name are there, and empty. */
  hasOthers: boolean;
  /** Bytes that were written to connections, also those that are closed. */
  bytesWritten(): number;
  close(): void;
}

export async function startOddService(): Promise<OddService> {
  const sockets = new Set<{ bytesWritten: number }>();
  const server: Server = createServer((req, res) => {
    const [path = '', query = ''] = req.url!.replace('/api/v1/', '').split('?');
    service.requestedPaths.push(`${path}?${query}`);
    const n = service.requestedPaths.filter((candidate) => candidate.startsWith(`${path}?`)).length;
    const position = /(?:cursor|page)=[^&]*$/.exec(query)?.[0] ?? '';
    const page = service.lists[path]?.(position, n) ?? (service.hasOthers ? empty(path) : missing);
    if (typeof page === 'function') page(res, req);
    else sendJson(res, page.json);
  });
  server.on('connection', (socket) => sockets.add(socket));
  const { url } = await listen(server);
  const service: OddService = {
    url: `${url}/api/v1`,
    requestedPaths: [],
    lists: {},
    hasOthers: true,
    bytesWritten: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return service;
}

export function sendJson(res: ServerResponse, body: unknown): void {
  res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

const missing: OddPage = (res) => res.writeHead(404).end();

/** A page of a list as the API has it. */
export const pageWith = (list: string, items: unknown[], metadata: object = {}): OddPage => ({
  json: { status: 200, success: true, [list]: items, metadata: { next_cursor: 0, ...metadata } },
});

const empty = (path: string): OddPage => pageWith(path.split('/').at(-1)!, []);

/** Writes chunks as long as somebody reads them. */
export function pour(res: ServerResponse, chunk: Buffer, times: number): void {
  for (let n = 0; n < times; n++)
    if (!res.write(chunk)) {
      res.once('drain', () => pour(res, chunk, times - n - 1));
      return;
    }
  res.end();
}
