import { VisitedPages } from '../bounded-reading';
import { openIncoming } from './incoming';
import {
  isMissing,
  openBucket,
  S3_TIMEOUTS,
  toUnavailable,
  type Bucket,
  toS3Fault,
  type S3Fault,
} from './s3-bucket';
import { readObject } from './s3-read';
import { isStorageKey, requireStorageKey } from './keys';
import type { S3Settings } from './s3-settings';
import { writeObject } from './s3-write';
import { StorageUnavailable, type Storage, type StorageSettings } from './storage';
import { randomUUID } from 'node:crypto';
import { StartError } from '../start-error';

/** Prefix of the objects whose keys are in records; other objects of the bucket are ignored. */
const FILES = 'files/';
/** Consecutive pages of a list without a name. */
const MAX_EMPTY_PAGES = 100;

export function openS3(settings: StorageSettings, s3: S3Settings, timeouts = S3_TIMEOUTS): Storage {
  const bucket = openBucket(s3, timeouts);
  const toObjectName = (key: string) => `${FILES}${requireStorageKey(key)}`;
  return {
    ...openIncoming(settings),
    settings,
    check: () => checkBucket(bucket),
    keep: async (file, key) => writeObject(bucket, file, toObjectName(key)),
    open: async (key) => readObject(bucket, toObjectName(key)),
    readSize: async (key) => readObjectSize(bucket, toObjectName(key)),
    remove: async (key) => {
      await bucket.requestOrFail((s3, options) =>
        s3.deleteObject(bucket.at(toObjectName(key)), options),
      );
    },
    keysOlderThan: (ageMs) => keysOlderThan(bucket, ageMs),
  };
}

async function readObjectSize(bucket: Bucket, name: string): Promise<number | undefined> {
  try {
    return (await bucket.request((s3, options) => s3.headObject(bucket.at(name), options)))
      .ContentLength;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw toUnavailable(error);
  }
}

async function* keysOlderThan(bucket: Bucket, ageMs: number): AsyncGenerator<string[]> {
  const before = Date.now() - ageMs;
  const { Bucket, Key: Prefix } = bucket.at(FILES);
  const visited = new VisitedPages();
  let emptyPages = 0;
  let token: string | undefined;
  do {
    const page = await bucket.requestOrFail((s3, options) =>
      s3.listObjectsV2({ Bucket, Prefix, ContinuationToken: token }, options),
    );
    const old = (page.Contents ?? []).flatMap(({ Key, LastModified }) => {
      const key = Key!.slice(Prefix.length);
      return isStorageKey(key) && LastModified && LastModified.getTime() < before ? key : [];
    });
    if (old.length > 0) yield old;
    token = page.NextContinuationToken;
    const first = page.Contents?.[0]?.Key;
    emptyPages = first === undefined ? emptyPages + 1 : 0;
    const isNew = first === undefined || visited.add(`page ${first}`);
    // Services other than Amazon's may list the same names without end.
    if (token !== undefined && !(isNew && emptyPages < MAX_EMPTY_PAGES && visited.add(token)))
      throw new StorageUnavailable('the bucket cannot be used: its list of objects never ends');
  } while (token !== undefined);
}

/**
 * Looks for the bucket, and stores, reads, lists and removes a small object in it. Throws
 * StartError, with the variable that is wrong.
 */
async function checkBucket(bucket: Bucket): Promise<void> {
  const { Bucket } = bucket.at('');
  const probe = bucket.at(`probe-${randomUUID()}`);
  const step = async (right: string, work: Parameters<Bucket['request']>[0]) => {
    await bucket.request(work).catch((error: unknown) => {
      throw new StartError(explainFault(bucket, toS3Fault(error), right));
    });
  };
  await step('s3:ListBucket', (s3, options) => s3.headBucket({ Bucket }, options));
  await step('s3:PutObject', (s3, options) => s3.putObject({ ...probe, Body: 'probe' }, options));
  await step('s3:GetObject', async (s3, options) =>
    (await s3.getObject(probe, options)).Body?.transformToString(),
  );
  await step('s3:ListBucket', (s3, options) =>
    s3.listObjectsV2({ Bucket, Prefix: probe.Key, MaxKeys: 1 }, options),
  );
  await step('s3:DeleteObject', (s3, options) => s3.deleteObject(probe, options));
}

function explainFault({ settings }: Bucket, fault: S3Fault, right: string): string {
  const { bucket, endpoint, region, credentials } = settings;
  const { name, message, status } = fault;
  const service = endpoint ?? `Amazon S3 in ${region}`;
  if (name === 'CredentialsProviderError')
    return (
      'AWS_ACCESS_KEY_ID: it is not set, and AWS gives this machine no credentials; set it and ' +
      'AWS_SECRET_ACCESS_KEY, or give the machine a role.'
    );
  if (status === undefined)
    return (
      `${endpoint === undefined ? 'AWS_REGION' : 'S3_ENDPOINT'}: ${service} does not answer ` +
      `(${name}); correct it, or start when it is up.`
    );
  if (fault.region !== undefined && fault.region !== region && (status === 301 || status === 400))
    return (
      `AWS_REGION: the bucket "${bucket}" is in ${fault.region}, ` + `not in ${region}; correct it.`
    );
  if (status === 404)
    return `S3_BUCKET: ${service} has no bucket "${bucket}"; make it, or correct S3_BUCKET.`;
  if (status === 401 || status === 403)
    return (
      `S3_BUCKET: ${service} does not allow ${right} in the bucket "${bucket}" (${name}); ` +
      `${credentials ? 'check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and ' : 'check '}` +
      'that they are granted what docs/configure.md says.'
    );
  return (
    `S3_BUCKET: the bucket "${bucket}" of ${service} cannot be used (${status} ${name}: ` +
    `${message}).`
  );
}
