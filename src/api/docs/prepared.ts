import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';

/** An answer that is equal for all clients. */
export interface PreparedAnswer {
  type: string;
  body: Buffer;
  gzip: Buffer;
  tag: string;
}

/** Compresses once, for all later answers. */
export function prepare(type: string, content: string | Buffer): PreparedAnswer {
  const body = Buffer.from(content);
  const tag = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { type, body, gzip: gzipSync(body), tag };
}

/**
 * `no-transform`: compressing for each connection would hold memory as long as a slow reader reads.
 */
const CACHE_CONTROL = 'no-cache, no-transform';

/**
 * Sends an answer that is made at the first request. A browser asks for it each time and gets 304
 * while it is unchanged.
 */
export function send(make: () => PreparedAnswer): RequestHandler {
  let answer: PreparedAnswer | undefined;
  return (req, res) => {
    answer ??= make();
    // Weak: the compressed body has the same tag.
    res.set({ 'Cache-Control': CACHE_CONTROL, ETag: `W/"${answer.tag}"`, Vary: 'Accept-Encoding' });
    if (req.fresh) return void res.status(304).end();
    res.type(answer.type);
    if (req.acceptsEncodings('gzip') !== 'gzip') return void res.send(answer.body);
    res.set('Content-Encoding', 'gzip').send(answer.gzip);
  };
}
