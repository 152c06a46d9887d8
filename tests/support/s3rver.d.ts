/** The part of the package that tests use; it has no types of its own. */
declare module 's3rver' {
  import type { RequestListener } from 'node:http';

  interface ListOptions {
    maxKeys: number;
  }
  interface Listed {
    objects: { key: string }[];
  }

  class S3rver {
    constructor(options: {
      directory: string;
      silent: boolean;
      configureBuckets: { name: string }[];
    });
    store: { listObjects(bucket: string, options: ListOptions): Promise<Listed> };
    logger: { exceptions: { unhandle(): void }; close(): void };
    configureBuckets(): Promise<unknown>;
    callback(): RequestListener;
  }
  export = S3rver;
}
