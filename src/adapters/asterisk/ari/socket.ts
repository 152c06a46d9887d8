import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import { parseForeignJson } from '../../../platform/storable-text';
import {
  AriFault,
  buildPath,
  TIMEOUT_MS,
  type Ari,
  type AriConnection,
  type AriEvent,
} from './ari';

/** A peer that is gone without a word is noticed within two of these. */
const PING_MS = 10_000;

interface Reply {
  type: 'RESTResponse';
  request_id: string;
  status_code: number;
  message_body?: string;
}

type Message = AriEvent | Reply;

const isReply = (message: Message): message is Reply => message.type === 'RESTResponse';

/** Makes a connection of an open WebSocket. Without `rest`, requests go through the socket too. */
export function openConnection(socket: WebSocket, rest?: Ari): AriConnection {
  const listeners: ((event: AriEvent) => void)[] = [];
  // Those that come before a listener are kept: none is lost while the connection is set up.
  const early: AriEvent[] = [];
  const waiting = new Map<string, (reply: Reply | undefined) => void>();
  const lost = new Promise<void>((done) => socket.once('close', () => done()));
  socket.on('error', () => socket.terminate());
  socket.on('message', (data: Buffer) => {
    const message = parseForeignJson(data.toString()) as Message | undefined;
    if (!message) return;
    if (isReply(message)) waiting.get(message.request_id)?.(message);
    else if (listeners.length === 0) early.push(message);
    else for (const listener of listeners) listener(message);
  });
  const stopPings = watch(socket);
  void lost.then(() => {
    stopPings();
    for (const answer of waiting.values()) answer(undefined);
  });
  return {
    lost,
    onEvent: (listener) => {
      listeners.push(listener);
      for (const event of early.splice(0)) listener(event);
    },
    close: () => socket.close(),
    ask: rest ? rest.ask : askThrough(socket, waiting),
  };
}

/** Ends a socket whose peer does not answer pings. Returns how to stop that. */
function watch(socket: WebSocket): () => void {
  let isAlive = true;
  socket.on('pong', () => (isAlive = true));
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, PING_MS);
  return () => clearInterval(timer);
}

function askThrough(
  socket: WebSocket,
  waiting: Map<string, (reply: Reply | undefined) => void>,
): Ari['ask'] {
  return async <Answer>(request: Parameters<Ari['ask']>[0]) => {
    const id = randomUUID();
    const reply = await new Promise<Reply | undefined>((done) => {
      const timer = setTimeout(done, TIMEOUT_MS, undefined);
      waiting.set(id, (answer) => {
        clearTimeout(timer);
        done(answer);
      });
      socket.send(
        JSON.stringify({
          ...{ type: 'RESTRequest', transaction_id: id, request_id: id, method: request.method },
          uri: buildPath(request).slice(1),
          ...(request.body && {
            content_type: 'application/json',
            message_body: JSON.stringify(request.body),
          }),
        }),
      );
    }).finally(() => waiting.delete(id));
    if (!reply) throw new Error(`Asterisk did not answer ${request.method} ${request.path}`);
    const body = parseForeignJson(reply.message_body ?? '');
    if (reply.status_code >= 300)
      throw new AriFault(reply.status_code, request, reply.message_body ?? '');
    return body as Answer;
  };
}
