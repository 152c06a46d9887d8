import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BASE_PATH } from '../../platform/contract/contract';
import { parseForeignJson } from '../../platform/storable-text';

// Between an adapter and the service: passes requests on, remembers them, and disturbs some.

/** A request of the adapter, and its answer. */
export interface Exchange {
  method: string;
  /** Below the base path, decoded, without the query. */
  path: string;
  body: Record<string, unknown>;
  /** Absent until there is an answer, or if there was none. */
  status?: number;
  answer?: Record<string, unknown>;
}

export interface Disturbance {
  /**
   * `refuse`: 503, and the service does not hear of it; a request that waits for its answer gets
   * none. `lose`: the service has done it, and the adapter does not hear of that.
   */
  kind: 'refuse' | 'lose';
  times: number;
  applies(exchange: Exchange): boolean;
}

export interface Door {
  port: number;
  exchanges: readonly Exchange[];
  /** Returns a function that ends it before it has happened so often. */
  disturb(disturbance: Disturbance): () => void;
  /** Nothing is answered any more, as if the service were not there. */
  setAway(isAway: boolean): void;
  close(): Promise<void>;
}

interface DoorOptions {
  host: string;
  /** 0 for any that is free. */
  port: number;
  /** Where the service listens. */
  service: string;
  /** The key pair of the adapter, and the one that the service knows. */
  keys: { adapter: string; service: string };
}

const toBasic = (key: string): string => `Basic ${Buffer.from(key).toString('base64')}`;

/** Opens the door. Throws if it cannot listen there. */
export async function openDoor({ host, port, service, keys }: DoorOptions): Promise<Door> {
  const exchanges: Exchange[] = [];
  const disturbances = new Set<Disturbance>();
  const waiting = new Map<Exchange, ServerResponse>();
  let isAway = false;
  const authorizations = new Map([[toBasic(keys.adapter), toBasic(keys.service)]]);
  const handle = async (incoming: IncomingMessage, reply: ServerResponse) => {
    const body = await readBody(incoming);
    if (isAway) return void reply.destroy();
    const exchange = toExchange(incoming, body);
    exchanges.push(exchange);
    const disturbance = takeDisturbance(disturbances, exchange);
    if (disturbance?.kind === 'refuse') {
      exchange.status = 503;
      return void reply.writeHead(503, { 'content-type': 'application/json' }).end('{}');
    }
    const { authorization = '' } = incoming.headers;
    const headers = {
      ...incoming.headers,
      ...(authorization && { authorization: authorizations.get(authorization) ?? authorization }),
    };
    const isLost = disturbance?.kind === 'lose';
    waiting.set(exchange, reply);
    reply.on('close', () => waiting.delete(exchange));
    passOn(new URL(incoming.url!, service), { incoming, body, headers, exchange, reply, isLost });
  };
  const server = createServer((incoming, reply) => {
    handle(incoming, reply).catch(() => reply.destroy());
  });
  // A connection that waits for commands lasts.
  server.requestTimeout = 0;
  await new Promise<void>((done, fail) => {
    server.once('error', fail).listen(port, host, () => done());
  });
  return {
    port: (server.address() as AddressInfo).port,
    exchanges,
    disturb: (disturbance) => {
      disturbances.add(disturbance);
      if (disturbance.kind === 'refuse')
        for (const [exchange, reply] of waiting) if (disturbance.applies(exchange)) reply.destroy();
      return () => void disturbances.delete(disturbance);
    },
    setAway: (away) => {
      isAway = away;
      if (away) server.closeAllConnections();
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Audio and empty bodies have no fields. */
const readFields = (text: Buffer): Record<string, unknown> =>
  (parseForeignJson(text.toString()) as Record<string, unknown> | undefined) ?? {};

function toExchange({ method, url }: IncomingMessage, body: Buffer): Exchange {
  const { pathname } = new URL(url!, 'http://door');
  const path = pathname.startsWith(BASE_PATH) ? pathname.slice(BASE_PATH.length) : pathname;
  return { method: method!, path: decode(path), body: readFields(body) };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function takeDisturbance(
  disturbances: Set<Disturbance>,
  exchange: Exchange,
): Disturbance | undefined {
  const disturbance = [...disturbances].find(({ applies }) => applies(exchange));
  if (!disturbance) return undefined;
  disturbance.times -= 1;
  if (disturbance.times === 0) disturbances.delete(disturbance);
  return disturbance;
}

interface Passing {
  incoming: IncomingMessage;
  body: Buffer;
  headers: IncomingMessage['headers'];
  exchange: Exchange;
  reply: ServerResponse;
  isLost: boolean;
}

/** Answers are read here: they are not to be compressed. */
const REPLACED_HEADERS = new Set(['transfer-encoding', 'content-length', 'accept-encoding']);

function passOn(url: URL, { incoming, body, headers, exchange, reply, isLost }: Passing): void {
  // The body has been read: its length is known now.
  const others = Object.entries(headers).filter(([name]) => !REPLACED_HEADERS.has(name));
  const outgoing = request(url, {
    method: incoming.method,
    headers: { ...Object.fromEntries(others), 'content-length': body.length },
  });
  const fail = () => void reply.destroy();
  outgoing.on('error', fail).on('response', (response) => {
    const chunks: Buffer[] = [];
    if (!isLost) reply.writeHead(response.statusCode!, response.headers);
    response
      .on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (!isLost) reply.write(chunk);
      })
      .on('error', fail)
      .on('end', () => {
        exchange.answer = readFields(Buffer.concat(chunks));
        exchange.status = response.statusCode!;
        if (isLost) fail();
        else reply.end();
      });
  });
  reply.on('close', () => outgoing.destroy());
  outgoing.end(body);
}
