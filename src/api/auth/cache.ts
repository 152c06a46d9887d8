/**
 * How long a lookup is cached, so that most requests need none. Revoked credentials may work as
 * long on another server process.
 */
const CACHED_FOR_MS = 3_000;
const MAX_ENTRIES = 10_000;

export interface CachedLookup<T> {
  /** Synchronous where it is cached, so that most requests do not wait. */
  find(key: string): T | undefined | Promise<T | undefined>;
  forget(key: string): void;
  forgetAll(): void;
}

/** Caches hits only: a miss is looked up each time. */
export function cachedLookup<T>(lookUp: (key: string) => Promise<T | undefined>): CachedLookup<T> {
  const cached = new Map<string, { value: T; until: number }>();
  const findUncached = async (key: string, now: number) => {
    const value = await lookUp(key);
    if (value === undefined) cached.delete(key);
    else {
      if (cached.size >= MAX_ENTRIES) cached.clear();
      cached.set(key, { value, until: now + CACHED_FOR_MS });
    }
    return value;
  };
  return {
    forget: (key) => void cached.delete(key),
    forgetAll: () => cached.clear(),
    find: (key) => {
      const now = Date.now();
      const entry = cached.get(key);
      return entry && entry.until > now ? entry.value : findUncached(key, now);
    },
  };
}
