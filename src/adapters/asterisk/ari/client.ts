import { WebSocket } from 'ws';
import { parseForeignJson } from '../../../platform/storable-text';
import { APP, AriFault, buildPath, TIMEOUT_MS, type Ari, type Connect } from './ari';
import { openConnection } from './socket';

export interface ClientSettings {
  /** Such as http://127.0.0.1:8088/ari. */
  url: string;
  /** A user of ari.conf, `user:password`. */
  key: string;
}

/** Requests by HTTP. */
export function openRest({ url, key }: ClientSettings): Ari & { authorization: string } {
  const authorization = `Basic ${Buffer.from(key).toString('base64')}`;
  return {
    authorization,
    ask: async <Answer>(request: Parameters<Ari['ask']>[0]) => {
      const response = await fetch(`${url}${buildPath(request)}`, {
        method: request.method,
        headers: { authorization, ...(request.body && { 'content-type': 'application/json' }) },
        ...(request.body && { body: JSON.stringify(request.body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await response.text();
      if (!response.ok) throw new AriFault(response.status, request, text);
      return parseForeignJson(text) as Answer;
    },
  };
}

/** Connects to Asterisk: its events come by a WebSocket, and requests go by HTTP. */
export const createClient = (settings: ClientSettings): Connect => {
  const rest = openRest(settings);
  const query = new URLSearchParams({ app: APP, api_key: settings.key });
  const url = `${settings.url.replace(/^http/, 'ws')}/events?${query}`;
  return (signal) =>
    new Promise((done, fail) => {
      const socket = new WebSocket(url, { handshakeTimeout: TIMEOUT_MS });
      const stop = () => socket.terminate();
      signal.addEventListener('abort', stop, { once: true });
      socket.once('open', () => done(openConnection(socket, rest)));
      // The URL has the password: the error of a library may quote it.
      socket.once('error', (error: NodeJS.ErrnoException) =>
        fail(new Error(`no connection to Asterisk: ${error.code ?? error.message}`)),
      );
      socket.once('close', () => signal.removeEventListener('abort', stop));
    });
};
