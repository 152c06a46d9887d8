import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';

// Where a switch connects to an adapter.

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** True if the request has the key, `user:password`. */
export function isAllowed({ headers }: IncomingMessage, key: string): boolean {
  const expected = `Basic ${Buffer.from(key).toString('base64')}`;
  return timingSafeEqual(digest(headers.authorization ?? ''), digest(expected));
}

export function listen(http: Server, host: string, port: number): Promise<void> {
  return new Promise((done, fail) => {
    http.once('error', fail);
    http.listen(port, host, () => done());
  });
}
