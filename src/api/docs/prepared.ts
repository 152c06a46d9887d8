import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, RequestHandler, Response } from 'express';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

// Beyond 9, Brotli saves a tenth more. It takes seconds for a script of Swagger UI's size, and a
// tenth of a second for the largest one of the console.
const LARGE_BYTES = 100_000;
const chooseBrotli = ({ length }: Buffer) => ({
  params: { [constants.BROTLI_PARAM_QUALITY]: length < LARGE_BYTES ? 11 : 9 },
});

/** By preference. */
const COMPRESSIONS = {
  br: (body: Buffer) => compressBrotli(body, chooseBrotli(body)),
  gzip: (body: Buffer) => compressGzip(body),
};
type Encoding = keyof typeof COMPRESSIONS;
const ENCODINGS = Object.keys(COMPRESSIONS) as Encoding[];

/** An answer that is equal for all clients, compressed once for all later ones. */
export class PreparedAnswer {
  readonly body: Buffer;
  readonly tag: string;
  private readonly compressed: Partial<Record<Encoding, Promise<Buffer>>> = {};

  constructor(
    readonly type: string,
    content: string | Buffer,
  ) {
    this.body = Buffer.from(content);
    this.tag = hash(this.body);
  }

  compress(encoding: Encoding): Promise<Buffer> {
    return (this.compressed[encoding] ??= COMPRESSIONS[encoding](this.body));
  }
}

export const hash = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 16);

// `no-transform`: compressing for each connection would hold memory as long as a slow reader reads.
const CACHE_CONTROL = {
  /** A browser asks for it each time and gets 304 while it is unchanged. */
  checked: 'no-cache, no-transform',
  /** Its address changes with its content. */
  forever: 'public, max-age=31536000, immutable, no-transform',
};
type Caching = keyof typeof CACHE_CONTROL;

export async function sendPrepared(
  req: Request,
  res: Response,
  answer: PreparedAnswer,
  caching: Caching = 'checked',
): Promise<void> {
  res.set({
    'Cache-Control': CACHE_CONTROL[caching],
    // Weak: the compressed body has the same tag.
    ETag: `W/"${answer.tag}"`,
    Vary: 'Accept-Encoding',
  });
  if (req.fresh) return void res.status(304).end();
  res.type(answer.type);
  // One by one: of several, the first in the request's order is chosen; browsers name gzip first.
  const encoding = ENCODINGS.find((name) => req.acceptsEncodings(name) === name);
  if (!encoding) return void res.send(answer.body);
  const body = await answer.compress(encoding);
  res.set('Content-Encoding', encoding).send(body);
}

/** Sends an answer that is made at the first request. */
export function send(make: () => PreparedAnswer): RequestHandler {
  let answer: PreparedAnswer | undefined;
  return (req, res) => sendPrepared(req, res, (answer ??= make()));
}
