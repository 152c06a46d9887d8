/** What is done for many at once. */
export interface BatchWork<Item, Result> {
  /** Does all of them, no two of which have the same key; answers in their order. */
  run(items: readonly Item[]): Promise<Result[]>;
  keyOf(item: Item): unknown;
  /** What can be done of a set that failed. Without it a failure is everybody's. */
  apart?: {
    /** Does one by itself, so that it ends as it would have ended alone. */
    alone(item: Item): Promise<Result>;
    /** Whether an error of `run` may be that of a single item, or of being done on the terms of `run`, which may be stricter; any other is everybody's. */
    isOfOne(error: unknown): boolean;
  };
}

interface Waiting<Item, Result> {
  item: Item;
  done(result: Result): void;
  fail(error: unknown): void;
}

const MOST_AT_ONCE = 100;
/** One set may wait for a row while the other goes on. */
const SETS = 2;

/**
 * Does what comes while the same is being done already together afterwards: under load a hundred pay the price of one, and without load nobody waits.
 * `idle` is told when there is nothing left.
 */
function gather<Item, Result>(
  { run, keyOf, apart }: BatchWork<Item, Result>,
  idle: () => void,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let running = 0;

  const each = async (set: Waiting<Item, Result>[]): Promise<void> => {
    await Promise.all(set.map(({ item, done, fail }) => apart!.alone(item).then(done, fail)));
  };
  const together = async (set: Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await run(set.map(({ item }) => item));
      set.forEach(({ done }, n) => done(results[n]!));
    } catch (error) {
      if (apart?.isOfOne(error)) await each(set);
      else for (const { fail } of set) fail(error);
    }
  };
  const next = (): void => {
    if (waiting.length === 0) return running === 0 ? idle() : undefined;
    if (running === SETS) return;
    const keys = new Set<unknown>();
    const set = waiting.filter(
      ({ item }) => keys.size < MOST_AT_ONCE && !keys.has(keyOf(item)) && keys.add(keyOf(item)),
    );
    waiting = waiting.filter((one) => !set.includes(one));
    running++;
    void together(set).finally(() => {
      running--;
      next();
    });
  };
  return (item) =>
    new Promise((done, fail) => {
      waiting.push({ item, done, fail });
      next();
    });
}

/** Gathers what is asked of one owner in one way: there are as many sets as ways, each as long as there is something in it. */
export function batchers<Item, Result>(): (
  owner: object,
  way: string,
  joint: () => BatchWork<Item, Result>,
) => (item: Item) => Promise<Result> {
  const all = new WeakMap<object, Map<string, (item: Item) => Promise<Result>>>();
  return (owner, way, joint) => {
    const ways = all.get(owner) ?? new Map<string, (item: Item) => Promise<Result>>();
    all.set(owner, ways);
    const found = ways.get(way) ?? gather(joint(), () => ways.delete(way));
    ways.set(way, found);
    return found;
  };
}
