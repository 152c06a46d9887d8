import { StorageUnavailable } from './storage';

interface WaitingPart {
  bytes: number;
  begin: () => void;
}

/**
 * Limits how many bytes of files are in memory while they are sent, over all uploads of a process.
 * Work that finds no room waits for its turn.
 */
export class PartMemory {
  private waiting: WaitingPart[] = [];

  constructor(private free: number) {}

  /** Runs the work when there is room; throws StorageUnavailable when `limit_ms` have passed. */
  async with<T>(bytes: number, limitMs: number, work: () => Promise<T>): Promise<T> {
    await this.take(bytes, limitMs);
    try {
      return await work();
    } finally {
      this.free += bytes;
      this.next();
    }
  }

  private take(bytes: number, limitMs: number): Promise<void> {
    return new Promise((done, fail) => {
      const timer = setTimeout(() => {
        this.waiting = this.waiting.filter((item) => item !== entry);
        fail(new StorageUnavailable('the bucket takes the files that are sent too slowly'));
        this.next();
      }, limitMs);
      const begin = () => {
        clearTimeout(timer);
        done();
      };
      const entry = { bytes, begin };
      this.waiting.push(entry);
      this.next();
    });
  }

  /** In order, so that a large part gets its turn too. */
  private next(): void {
    while (this.waiting[0] && this.waiting[0].bytes <= this.free) {
      const { bytes, begin } = this.waiting.shift()!;
      this.free -= bytes;
      begin();
    }
  }
}
