import crypto from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { join } from 'node:path';
import S3rver from 's3rver';
import type { S3Settings } from '../../src/platform/storage/s3-settings';
import { loadConfig } from '../../src/main/config';
import { freePort } from './process';

// Like src/main/config.ts, whose change of the environment lasts for one test file only.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

/** Credentials that its library gives everybody. */
const [ID, SECRET] = ['S3RVER', 'S3RVER'];
const BUCKET = 'files-of-tests';

/** Looks at a request before it is served; returns true if it is not to be served. */
type Hook = (req: IncomingMessage, res: ServerResponse) => boolean;

/** A server that speaks S3, and that a test may stop, start and disturb. */
export interface S3Server {
  url: string;
  /** The variables that a process needs to use it. */
  environment: Record<string, string>;
  settings: S3Settings;
  /** Method and URL of each request since `forget`, with its range. */
  requests(): string[];
  forget(): void;
  /** Handles requests from now on, before the server does. */
  hook: Hook;
  objects(): Promise<string[]>;
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The library makes the tokens of its lists with DES, which OpenSSL 3 has as triple DES only: with
 * three equal keys, that is the same.
 */
function allowDes(): () => void {
  const { createCipheriv, createDecipheriv } = crypto;
  const allowing = (make: typeof createCipheriv | typeof createDecipheriv) =>
    ((name: string, key: Buffer, ...rest: [Buffer]) =>
      name === 'des'
        ? make('des-ede3-cbc', Buffer.concat([key, key, key]), ...rest)
        : make(name, key, ...rest)) as never;
  crypto.createCipheriv = allowing(createCipheriv);
  crypto.createDecipheriv = allowing(createDecipheriv);
  return () => void Object.assign(crypto, { createCipheriv, createDecipheriv });
}

/** Starts a server with one bucket, whose lists have at most `page` names at a time. */
export async function startS3({ page = 1_000, prefix = '' } = {}): Promise<S3Server> {
  const service = new S3rver({
    directory: mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 's3-')),
    silent: true,
    configureBuckets: [{ name: BUCKET }],
  });
  await service.configureBuckets();
  const forbidDes = allowDes();
  const { store } = service;
  const list = store.listObjects.bind(store);
  store.listObjects = (bucket, options) =>
    list(bucket, { ...options, maxKeys: Math.min(options.maxKeys, page) });
  const port = await freePort();
  const environment = {
    S3_BUCKET: BUCKET,
    S3_ENDPOINT: `http://127.0.0.1:${port}`,
    AWS_ACCESS_KEY_ID: ID,
    AWS_SECRET_ACCESS_KEY: SECRET,
    ...(prefix && { S3_PREFIX: prefix }),
  };
  let requests: string[] = [];
  const serve = service.callback();
  let server: Server | undefined;
  const s3: S3Server = {
    url: environment.S3_ENDPOINT,
    environment,
    settings: loadConfig(environment).s3!,
    requests: () => requests,
    forget: () => void (requests = []),
    hook: () => false,
    objects: async () => (await list(BUCKET, { maxKeys: 10_000 })).objects.map(({ key }) => key),
    start: () => {
      const listener: RequestListener = (req, res) => {
        const { range } = req.headers;
        requests.push(`${req.method} ${req.url}${range === undefined ? '' : ` ${range}`}`);
        if (!s3.hook(req, res)) serve(req, res);
      };
      server = createServer(listener);
      return new Promise((done) => server!.listen(port, '127.0.0.1', done));
    },
    stop: () =>
      new Promise((done) => {
        server!.close(() => done());
        server!.closeAllConnections();
      }),
    close: async () => {
      await s3.stop();
      forbidDes();
      service.logger.exceptions.unhandle();
      service.logger.close();
    },
  };
  await s3.start();
  return s3;
}

/** Ends the connection of an answer after some bytes of its body, or only sends no more. */
export function breakAfter(bytes: number, res: ServerResponse, how: 'cut' | 'stall'): void {
  const write = res.write.bind(res) as (chunk: Buffer, ...rest: unknown[]) => boolean;
  let sentBytes = 0;
  res.write = ((chunk: Buffer, ...rest: unknown[]) => {
    if (sentBytes >= bytes) {
      if (how === 'cut') res.socket?.destroy();
      return false;
    }
    sentBytes += chunk.length;
    return write(chunk, ...rest);
  }) as typeof res.write;
}
