/**
 * Lets so many do their work at a time; the others wait for their turn, in order. For transactions that queue for the same rows: who waits here holds no
 * connection meanwhile, which others need.
 */
export function semaphore(at_once: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < at_once) running++;
    else await new Promise<void>((go) => waiting.push(go));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
