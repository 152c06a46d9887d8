/**
 * Lets at most `limit` pieces of work run at a time; the others wait in order. For transactions
 * that queue for the same rows: a transaction that waits here holds no connection.
 */
export function semaphore(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < limit) running++;
    else await new Promise<void>((proceed) => waiting.push(proceed));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
