import { bool, makeValidator, str, type CleanedEnv } from 'envalid';

/** A bucket of Amazon S3, or of another service with its protocol. */
export interface S3Settings {
  bucket: string;
  /** Prefix of the names of all objects: empty, or ends with a slash. */
  prefix: string;
  region: string;
  /** Absent: Amazon's endpoint of the region. */
  endpoint: string | undefined;
  /** The bucket is in the path of URLs; otherwise it is a part of the host name. */
  path_style: boolean;
  /** Absent: the credentials that AWS gives this machine, container or pod. */
  credentials: { id: string; secret: string; session: string | undefined } | undefined;
}

const bucketName = makeValidator<string>((input) => {
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(input))
    throw new Error('must be the name of a bucket: 3 to 63 of a-z, 0-9, hyphen and dot');
  return input;
});
const objectPrefix = makeValidator<string>((input) => {
  if (!/^[\w.-][\w./-]{0,199}$/.test(input) || input.includes('//'))
    throw new Error('must be a prefix such as trunkline or apps/trunkline');
  return input.replace(/(?<!\/)\/?$/, '/');
});
const endpointUrl = makeValidator<string>((input) => {
  const url = URL.canParse(input) ? new URL(input) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username)
    throw new Error('must be a URL such as https://s3.example.com');
  return input.replace(/\/$/, '');
});

export const S3_VARIABLES = {
  S3_BUCKET: bucketName({ default: undefined }),
  S3_PREFIX: objectPrefix({ default: undefined }),
  S3_ENDPOINT: endpointUrl({ default: undefined }),
  S3_FORCE_PATH_STYLE: bool({ default: undefined }),
  AWS_REGION: str({ default: undefined }),
  AWS_ACCESS_KEY_ID: str({ default: undefined }),
  AWS_SECRET_ACCESS_KEY: str({ default: undefined }),
  AWS_SESSION_TOKEN: str({ default: undefined }),
};
type Values = CleanedEnv<typeof S3_VARIABLES>;

/** Faults of variables that belong together. `set` has the variables that are set. */
export function findS3Faults(set: Partial<Record<string, string>>): string[] {
  const needs = (name: string, by: string) =>
    set[by] !== undefined && set[name] === undefined ? [`${name} must be given with ${by}`] : [];
  if (set.S3_BUCKET === undefined)
    return ['S3_PREFIX', 'S3_ENDPOINT', 'S3_FORCE_PATH_STYLE']
      .flatMap((by) => needs('S3_BUCKET', by))
      .slice(0, 1);
  return [
    ...(set.S3_ENDPOINT === undefined
      ? needs('AWS_REGION', 'S3_BUCKET').map((fault) => `${fault}, or S3_ENDPOINT`)
      : []),
    ...needs('AWS_SECRET_ACCESS_KEY', 'AWS_ACCESS_KEY_ID'),
    ...needs('AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'),
    ...needs('AWS_ACCESS_KEY_ID', 'AWS_SESSION_TOKEN'),
  ].filter((fault, at, all) => all.indexOf(fault) === at);
}

/** Services other than Amazon's have one region and accept this name for it. */
const USUAL_REGION = 'us-east-1';

export function readS3Settings(values: Values): S3Settings | undefined {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = values;
  if (values.S3_BUCKET === undefined) return undefined;
  return {
    bucket: values.S3_BUCKET,
    prefix: values.S3_PREFIX ?? '',
    region: values.AWS_REGION ?? USUAL_REGION,
    endpoint: values.S3_ENDPOINT,
    path_style: values.S3_FORCE_PATH_STYLE ?? values.S3_ENDPOINT !== undefined,
    credentials:
      id === undefined || secret === undefined
        ? undefined
        : { id, secret, session: values.AWS_SESSION_TOKEN },
  };
}
