/**
 * A check that holds for a time: calls while it runs, or within `ms` after it has succeeded, share
 * its result. A failed check runs again.
 */
export function recentCheck(ms: number, check: () => Promise<unknown>): () => Promise<void> {
  let latest: { result: Promise<void>; until: number } | undefined;
  return () => {
    if (latest && performance.now() < latest.until) return latest.result;
    const current = { result: check().then(() => undefined), until: Infinity };
    latest = current;
    current.result.then(
      () => (current.until = performance.now() + ms),
      () => (current.until = 0),
    );
    return current.result;
  };
}
