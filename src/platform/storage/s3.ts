import { VisitedPages } from '../bounded-reading';
import { openIncoming } from './incoming';
import { isMissing, openBucket, S3_TIMEOUTS, toUnavailable, type Bucket } from './s3-bucket';
import { checkBucket } from './s3-check';
import { readObject } from './s3-read';
import { isStorageKey, requireStorageKey } from './keys';
import type { S3Settings } from './s3-settings';
import { writeObject } from './s3-write';
import { StorageUnavailable, type Storage, type StorageSettings } from './storage';

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
