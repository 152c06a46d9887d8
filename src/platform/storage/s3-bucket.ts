import { Readable } from 'node:stream';
import type * as Sdk from '@aws-sdk/client-s3';
import type { S3, S3ClientConfig } from '@aws-sdk/client-s3';
import { limitBytes } from '../bounded-reading';
import type { S3Settings } from './s3-settings';
import { StorageUnavailable } from './storage';

/** Timeouts of the service, in milliseconds. */
export interface S3Timeouts {
  connect: number;
  /** Time between two pieces of data. */
  idle: number;
  /** A request with all of its tries: a small one, and one that transfers or joins parts. */
  request: number;
  transfer: number;
  /** Before a broken download is continued; after the last one it fails. */
  pauses: readonly number[];
}

export const S3_TIMEOUTS: S3Timeouts = {
  connect: 3_000,
  idle: 10_000,
  request: 20_000,
  transfer: 60_000,
  pauses: [100, 500, 2_000, 5_000],
};
const TRIES = 3;
/** A download has a connection for as long as its client reads. */
const MAX_SOCKETS = 1_000;

export interface Bucket {
  settings: S3Settings;
  timeouts: S3Timeouts;
  at(name: string): { Bucket: string; Key: string };
  client(): Promise<S3>;
  /** Calls the service, for a limited time; throws its error, or StorageUnavailable. */
  request<T>(work: (s3: S3, options: Options) => Promise<T>, limitMs?: number): Promise<T>;
  /** Like `request`, but throws every error as StorageUnavailable. */
  requestOrFail<T>(work: (s3: S3, options: Options) => Promise<T>, limitMs?: number): Promise<T>;
}

interface Options {
  abortSignal: AbortSignal;
}

/** The library is loaded when the first bucket is used: installations without S3 do not load it. */
let loaded: Promise<typeof Sdk> | undefined;
const load = () => (loaded ??= import('@aws-sdk/client-s3'));

export function openBucket(settings: S3Settings, timeouts: S3Timeouts): Bucket {
  let opened: Promise<S3> | undefined;
  const connect = async () => {
    const { S3 } = await load();
    const s3 = new S3(clientConfig(settings, timeouts));
    s3.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const result = await next(args);
          limitAnswer(result.response as ReceivedAnswer, commandName as string);
          return result;
        },
      // Before the library reads the body.
      { step: 'deserialize', priority: 'low', name: 'limitAnswer' },
    );
    return s3;
  };
  const client = () => (opened ??= connect());
  const request: Bucket['request'] = async (work, limitMs = timeouts.request) => {
    const s3 = await client();
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), limitMs);
    // Not AbortSignal.timeout: the body of an answer is read for longer.
    return work(s3, { abortSignal: over.signal }).finally(() => clearTimeout(timer));
  };
  return {
    settings,
    timeouts,
    at: (name) => ({ Bucket: settings.bucket, Key: `${settings.prefix}${name}` }),
    client,
    request,
    requestOrFail: (work, limitMs) => request(work, limitMs).catch(throwUnavailable),
  };
}

interface ReceivedAnswer {
  statusCode: number;
  body?: unknown;
}

/** Ten times a list of a thousand names. */
const MAX_ANSWER_BYTES = 10_000_000;

/** The library keeps an answer in memory as a whole, unless it is an object. */
function limitAnswer(answer: ReceivedAnswer, command: string): void {
  const isObject = command === 'GetObjectCommand' && answer.statusCode < 300;
  if (isObject || !(answer.body instanceof Readable)) return;
  answer.body = Readable.from(limitBytes(answer.body, MAX_ANSWER_BYTES), { objectMode: false });
}

const clientConfig = (
  { region, endpoint, path_style, credentials }: S3Settings,
  { connect, idle }: S3Timeouts,
): S3ClientConfig => ({
  region,
  ...(endpoint !== undefined && { endpoint }),
  forcePathStyle: path_style,
  ...(credentials && {
    credentials: {
      accessKeyId: credentials.id,
      secretAccessKey: credentials.secret,
      ...(credentials.session !== undefined && { sessionToken: credentials.session }),
    },
  }),
  maxAttempts: TRIES,
  // Services other than Amazon's support only the checksum of the signature.
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
  requestHandler: {
    connectionTimeout: connect,
    socketTimeout: idle,
    httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
    httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
  },
});

export interface S3Fault {
  name: string;
  message: string;
  status: number | undefined;
  /** The region of the bucket, if the answer says that it is another one. */
  region: string | undefined;
}

export function toS3Fault(error: unknown): S3Fault {
  const { name, code, message, $metadata, $response } = error as Partial<SdkError>;
  const isNamed = code === undefined && name !== undefined && name !== 'Error';
  return {
    name: isNamed ? name : (code ?? 'no answer'),
    message: message ?? String(error),
    status: $metadata?.httpStatusCode,
    region: $response?.headers?.['x-amz-bucket-region'],
  };
}

interface SdkError {
  name: string;
  code: string;
  message: string;
  $metadata: { httpStatusCode?: number };
  $response: { headers?: Record<string, string> };
}

/** The answer is that there is no such object; a missing bucket is another fault. */
export function isMissing(error: unknown): boolean {
  const { name } = toS3Fault(error);
  return name === 'NoSuchKey' || name === 'NotFound';
}

export function toUnavailable(error: unknown): StorageUnavailable {
  if (error instanceof StorageUnavailable) return error;
  const { name, message, status } = toS3Fault(error);
  const answer = status === undefined ? name : `${status} ${name}`;
  return new StorageUnavailable(`the bucket cannot be used (${answer}): ${message}`);
}

export function throwUnavailable(error: unknown): never {
  throw toUnavailable(error);
}
