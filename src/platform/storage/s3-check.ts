import { randomUUID } from 'node:crypto';
import { StartError } from '../start-error';
import { toS3Fault, type Bucket, type S3Fault } from './s3-bucket';

/**
 * Looks for the bucket, and stores, reads, lists and removes a small object in it. Throws
 * StartError, with the variable that is wrong.
 */
export async function checkBucket(bucket: Bucket): Promise<void> {
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
    return `AWS_REGION: the bucket "${bucket}" is in ${fault.region}, not in ${region}; correct it.`;
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
