import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { isAllowed, listen } from '../../service/door';
import { formatWork, type Work } from './document';
import { readRequest, type HttapiRequest } from './request';

// FreeSWITCH asks here what to do with a channel.

export interface DoorSettings {
  host: string;
  port: number;
  /** The credentials of its profile, `user:password`. */
  key: string;
}

export interface Door {
  port: number;
  close(): Promise<void>;
}

/** A channel has some hundred variables. */
const MAX_BYTES = 1_000_000;

/**
 * Opens the door. A request that fails has a status in place of a document: FreeSWITCH goes on in
 * its dialplan then.
 */
export async function openDoor(
  { host, port, key }: DoorSettings,
  answer: (request: HttapiRequest) => Promise<Work>,
  log: Logger,
): Promise<Door> {
  const http = createServer((incoming, response) => {
    respond(incoming, response, { key, answer }).catch((error: unknown) => {
      log.error({ err: error }, 'a request of FreeSWITCH failed');
      end(response, 500);
    });
  });
  await listen(http, host, port);
  const address = http.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    close: () =>
      new Promise((done) => {
        http.close(() => done());
        http.closeAllConnections();
      }),
  };
}

async function respond(
  incoming: IncomingMessage,
  response: ServerResponse,
  { key, answer }: { key: string; answer(request: HttapiRequest): Promise<Work> },
): Promise<void> {
  if (!isAllowed(incoming, key)) return end(response, 401);
  if (incoming.method !== 'POST') return end(response, 405);
  const body = await readBody(incoming);
  if (body === undefined) return end(response, 413);
  const request = readRequest(body);
  if (!request) return end(response, 400);
  const document = formatWork(await answer(request));
  response.writeHead(200, { 'content-type': 'text/xml; charset=utf-8' }).end(document);
}

function end(response: ServerResponse, status: number): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(status, { connection: 'close' }).end();
}

/** Returns undefined for what is too large. */
async function readBody(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
