import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * A value for all that some work does, however far it calls. As long as Node.js follows any such
 * work, it follows every promise of the process, which makes each request slower: so it does that
 * only while some is running.
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
