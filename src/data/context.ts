import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * A value for everything that some work does, across asynchronous calls. While Node.js tracks such
 * a context, it tracks every promise of the process, which slows each request. So tracking is
 * disabled while no such work runs.
 */
export class Context<T> {
  private readonly storage = new AsyncLocalStorage<T>();
  private running = 0;

  get(): T | undefined {
    return this.storage.getStore();
  }

  async run<Result>(value: T, work: () => Promise<Result>): Promise<Result> {
    this.running++;
    try {
      return await this.storage.run(value, work);
    } finally {
      if (--this.running === 0) this.storage.disable();
    }
  }
}
