/** The credential or lead token whose requests are counted. */
export interface Subject {
  company_id: bigint;
  /** Unique within the company. */
  name: string;
  /** Requests allowed in a window. */
  limit: number;
}

export interface Decision {
  allowed: boolean;
  /** Requests left in the window, as far as this process knows. */
  remaining: number;
  resets_in_ms: number;
}

/** Requests that the database granted to this process. */
export interface Block {
  granted: number;
  /** Requests that all processes have taken in the window, including this block. */
  used: number;
  /** Start of the window, as text from the database. */
  window: string;
  seconds_left: number;
}

/** How long an empty limit is trusted: another process may return requests. */
const EXHAUSTED_MS = 250;

/** The requests of one subject that this process may still allow without asking the database. */
export class Bucket {
  available = 0;
  window = '';
  /** When the last block came. All times are those of `performance`. */
  filled_at = 0;
  /** Requests that wait for a block; `fetching` is the statement they wait for. */
  waiting = 0;
  fetching: Promise<void> | undefined;
  /** Requests left in the database after the last block. */
  private left = 0;
  private ends_at = 0;
  private exhausted_until = 0;

  constructor(readonly subject: Subject) {}

  /** Decides without the database; undefined when a block must be fetched first. */
  spend(): Decision | undefined {
    const now = performance.now();
    if (now >= this.ends_at) return undefined;
    const allowed = this.available > 0;
    if (allowed) this.available -= 1;
    else if (now >= this.exhausted_until) return undefined;
    return { allowed, remaining: this.available + this.left, resets_in_ms: this.ends_at - now };
  }

  /**
   * Adds a block. The end of its window is computed from the time before the statement was sent, so
   * that no request is allowed after it.
   */
  fill({ granted, used, window, seconds_left }: Block, sentAt: number): void {
    this.available = granted + (window === this.window ? this.available : 0);
    this.window = window;
    this.left = Math.max(0, this.subject.limit - used);
    this.ends_at = sentAt + seconds_left * 1000;
    this.filled_at = performance.now();
    this.exhausted_until = granted > 0 ? 0 : this.filled_at + EXHAUSTED_MS;
  }

  /** Removes the unused requests and returns their number. */
  drain(): number {
    const unused = this.available;
    this.left += unused;
    this.available = 0;
    return unused;
  }

  hasUnused(now: number): boolean {
    return this.available > 0 && this.ends_at > now;
  }

  isExpired(now: number): boolean {
    return this.ends_at < now && this.waiting === 0;
  }
}
