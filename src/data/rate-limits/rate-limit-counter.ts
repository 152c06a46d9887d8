import type { Logger } from 'pino';
import { RETURN_UNUSED, TAKE_BLOCK } from './queries/rate-limits';
import { Bucket, type Decision, type Subject } from './rate-limit-bucket';
import type { Sql } from '../sql';

export type { Decision, Subject } from './rate-limit-bucket';

// Requests are counted in fixed windows by the database's clock, exactly over any number of
// processes, but without a statement per request: a process takes blocks of requests into a bucket
// per subject and spends them locally. Blocks shrink with the remaining requests, and unspent ones
// are soon returned.

export interface RateLimitCounter {
  /** Counts a request; at once when this process has some left. */
  take(subject: Subject): Decision | Promise<Decision>;
  /** Returns the unused requests. */
  close(): Promise<void>;
}

export interface RateLimitCounterOptions {
  sql: Sql;
  log: Logger;
  window_seconds: number;
}

/** How long a process keeps requests that it does not spend. */
const RETURN_AFTER_MS = 1_000;
const MAX_BUCKETS = 10_000;

export const openRateLimitCounter = (options: RateLimitCounterOptions): RateLimitCounter =>
  new Buckets(options);

class Buckets implements RateLimitCounter {
  private readonly buckets = new Map<string, Bucket>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: RateLimitCounterOptions) {}

  take(subject: Subject): Decision | Promise<Decision> {
    const bucket = this.openBucket(subject);
    return bucket.spend() ?? this.fetchAndSpend(bucket);
  }

  async close(): Promise<void> {
    clearTimeout(this.timer);
    await this.returnUnused([...this.buckets.values()].filter(({ available }) => available > 0));
  }

  private openBucket(subject: Subject): Bucket {
    const key = `${subject.company_id}/${subject.name}`;
    const existingBucket = this.buckets.get(key);
    if (existingBucket) return existingBucket;
    if (this.buckets.size >= MAX_BUCKETS) this.deleteExpired();
    const bucket = new Bucket(subject);
    this.buckets.set(key, bucket);
    return bucket;
  }

  private deleteExpired(): void {
    const now = performance.now();
    for (const [key, bucket] of this.buckets) if (bucket.isExpired(now)) this.buckets.delete(key);
  }

  /** All requests that find a bucket empty wait for one statement. */
  private async fetchAndSpend(bucket: Bucket): Promise<Decision> {
    bucket.waiting += 1;
    try {
      for (;;) {
        bucket.fetching ??= this.fetchBlock(bucket).finally(() => (bucket.fetching = undefined));
        await bucket.fetching;
        const decision = bucket.spend();
        if (decision) return decision;
      }
    } finally {
      bucket.waiting -= 1;
    }
  }

  private async fetchBlock(bucket: Bucket): Promise<void> {
    const { company_id, name, limit } = bucket.subject;
    const { sql, window_seconds } = this.options;
    const sentAt = performance.now();
    const [block] = await sql(TAKE_BLOCK, {
      company_id,
      subject: name,
      limit,
      window_seconds,
      waiting: bucket.waiting,
    });
    bucket.fill(block!, sentAt);
    if (bucket.available > 0)
      this.timer ??= setTimeout(() => void this.returnOld(), RETURN_AFTER_MS).unref();
  }

  private async returnOld(): Promise<void> {
    this.timer = undefined;
    const now = performance.now();
    const unused = [...this.buckets.values()].filter((bucket) => bucket.hasUnused(now));
    const isOld = ({ filled_at }: Bucket) => now - filled_at >= RETURN_AFTER_MS / 2;
    const old = unused.filter(isOld);
    if (old.length < unused.length)
      this.timer = setTimeout(() => void this.returnOld(), RETURN_AFTER_MS / 2).unref();
    await this.returnUnused(old);
  }

  private async returnUnused(buckets: Bucket[]): Promise<void> {
    if (buckets.length === 0) return;
    const { sql, log } = this.options;
    await sql(RETURN_UNUSED, {
      company_ids: buckets.map(({ subject }) => subject.company_id),
      subjects: buckets.map(({ subject }) => subject.name),
      windows: buckets.map(({ window }) => window),
      counts: buckets.map((bucket) => bucket.drain()),
    }).catch((error: unknown) => {
      // They count as spent until the window ends: too few are allowed then, never too many.
      log.debug({ err: error }, 'unused requests of rate limits could not be returned');
    });
  }
}
