import { HttpProblem } from '../platform/errors';

export interface BatchWork<Item, Result> {
  /**
   * Does the work for all items, no two of which have the same key; returns results in their order.
   */
  run(items: readonly Item[]): Promise<Result[]>;
  toKey(item: Item): unknown;
  at_once?: number | undefined;
  /** Items that have waited longer for their batch are refused with 503. Without it, all wait. */
  max_wait_ms?: number | undefined;
  /** Handles the items of a batch that failed. Without it, all of them fail. */
  fallback?: {
    /** Does the work for one item alone, with the result that it would have had without a batch. */
    runSingle(item: Item): Promise<Result>;
    /**
     * True if a single item, or a stricter limit of `run`, may have caused an error of `run`. Any
     * other error is returned for all items.
     */
    isItemError(error: unknown): boolean;
  };
}

interface Waiting<Item, Result> {
  item: Item;
  /** Ends its wait, where that is limited. */
  limit?: NodeJS.Timeout;
  done(result: Result): void;
  fail(error: unknown): void;
}

const MAX_BATCH = 100;
/** One batch may wait for a locked row while the other goes on. */
const BATCHES_AT_ONCE = 2;

/**
 * Collects the items that arrive while a batch is running and processes them in the next batch:
 * under load a hundred items cost as much as one, and without load no item waits.
 */
class Batcher<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private running = 0;
  private is_next_due = false;

  constructor(
    private readonly work: BatchWork<Item, Result>,
    private readonly onIdle: () => void,
  ) {}

  add(item: Item, since = performance.now()): Promise<Result> {
    return new Promise((done, fail) => {
      const waitingItem: Waiting<Item, Result> = { item, done, fail };
      this.limitWait(waitingItem, since);
      this.waiting.push(waitingItem);
      this.scheduleNext();
    });
  }

  /**
   * Starts after the current turn of the event loop, so that requests that arrived together share a
   * batch: otherwise the first would go alone. A statement costs about as much as five more leads.
   */
  private scheduleNext(): void {
    if (this.is_next_due) return;
    this.is_next_due = true;
    setImmediate(() => {
      this.is_next_due = false;
      if (this.waiting.length > 0) this.next();
    });
  }

  private next(): void {
    if (this.waiting.length === 0 && this.running === 0) this.onIdle();
    const { at_once = BATCHES_AT_ONCE } = this.work;
    if (this.waiting.length === 0 || this.running === at_once) return;
    this.running++;
    void this.run(this.takeBatch()).finally(() => {
      this.running--;
      this.next();
    });
  }

  /** Refuses the item when its time is over: a batch may hang. */
  private limitWait(item: Waiting<Item, Result>, since: number): void {
    const { max_wait_ms } = this.work;
    if (max_wait_ms === undefined) return;
    const refuse = () => {
      this.waiting = this.waiting.filter((waitingItem) => waitingItem !== item);
      item.fail(buildLateError());
    };
    item.limit = setTimeout(refuse, since + max_wait_ms - performance.now());
  }

  /** The first waiting item of each key. */
  private takeBatch(): Waiting<Item, Result>[] {
    const keys = new Set<unknown>();
    const batch = this.waiting.filter(({ item }) => {
      const key = this.work.toKey(item);
      return keys.size < MAX_BATCH && !keys.has(key) && keys.add(key);
    });
    for (const { limit } of batch) clearTimeout(limit);
    const batchedItems = new Set(batch);
    this.waiting = this.waiting.filter((waitingItem) => !batchedItems.has(waitingItem));
    return batch;
  }

  private async run(batch: Waiting<Item, Result>[]): Promise<void> {
    const { run, fallback } = this.work;
    try {
      const results = await run(batch.map(({ item }) => item));
      batch.forEach(({ done }, n) => done(results[n]!));
    } catch (error) {
      if (!fallback?.isItemError(error)) return batch.forEach(({ fail }) => fail(error));
      // The next batch does not wait for them: one of them may wait for a lock.
      for (const { item, done, fail } of batch) void fallback.runSingle(item).then(done, fail);
    }
  }
}

const buildLateError = (): HttpProblem =>
  new HttpProblem(
    'contended',
    'More requests come in than this installation can serve at present, and this one has waited ' +
      'too long. Nothing was changed. Try again.',
    { headers: { 'Retry-After': '1' } },
  );

/**
 * Returns a function that finds or creates the batcher for an owner and a kind of work. A batcher
 * lives as long as it has work. `since`: when the item began to wait, by `performance.now()`, if it
 * has waited for another batch before.
 */
export function createBatchers<Item, Result>(): (
  owner: object,
  kind: string,
  work: () => BatchWork<Item, Result>,
) => (item: Item, since?: number) => Promise<Result> {
  const byOwner = new WeakMap<object, Map<string, Batcher<Item, Result>>>();
  return (owner, kind, work) => {
    const ownBatchers = byOwner.get(owner) ?? new Map<string, Batcher<Item, Result>>();
    byOwner.set(owner, ownBatchers);
    const batcher = ownBatchers.get(kind) ?? new Batcher(work(), () => ownBatchers.delete(kind));
    ownBatchers.set(kind, batcher);
    return (item, since) => batcher.add(item, since);
  };
}
