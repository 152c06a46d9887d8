import { openIncoming } from './incoming';
import { isMissing, openBucket, S3_TIMEOUTS, unavailable, type Bucket } from './s3-bucket';
import { checkBucket } from './s3-check';
import { readObject } from './s3-read';
import type { S3Settings } from './s3-settings';
import { writeObject } from './s3-write';
import type { Storage, StorageSettings } from './storage';

/** Where the objects are whose keys records have; others of the bucket are left alone. */
const FILES = 'files/';

/** Files in a bucket; those that arrive are in a folder of this machine. */
export function openS3(settings: StorageSettings, s3: S3Settings, timeouts = S3_TIMEOUTS): Storage {
  const bucket = openBucket(s3, timeouts);
  const nameOf = (key: string) => `${FILES}${key}`;
  return {
    ...openIncoming(settings),
    settings,
    check: () => checkBucket(bucket),
    keep: (file, key) => writeObject(bucket, file, nameOf(key)),
    open: (key) => readObject(bucket, nameOf(key)),
    bytesOf: (key) => sizeOf(bucket, nameOf(key)),
    remove: async (key) => {
      await bucket.need((s3, options) => s3.deleteObject(bucket.at(nameOf(key)), options));
    },
    keysOlderThan: (age_ms) => keysOlderThan(bucket, age_ms),
  };
}

async function sizeOf(bucket: Bucket, name: string): Promise<number | undefined> {
  try {
    return (await bucket.ask((s3, options) => s3.headObject(bucket.at(name), options)))
      .ContentLength;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw unavailable(error);
  }
}

async function* keysOlderThan(bucket: Bucket, age_ms: number): AsyncGenerator<string[]> {
  const before = Date.now() - age_ms;
  const { Bucket, Key: Prefix } = bucket.at(FILES);
  let token: string | undefined;
  do {
    const page = await bucket.need((s3, options) =>
      s3.listObjectsV2({ Bucket, Prefix, ContinuationToken: token }, options),
    );
    const old = (page.Contents ?? []).filter(
      ({ LastModified }) => LastModified && LastModified.getTime() < before,
    );
    if (old.length > 0) yield old.map(({ Key }) => Key!.slice(Prefix.length));
    token = page.NextContinuationToken;
  } while (token !== undefined);
}
