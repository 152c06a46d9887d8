import { VisitedPages } from '../../platform/bounded-reading';
import { BadAnswer } from './answer';
import { isObject, type Envelope } from './page';

export interface WatchOptions {
  /** Position at which reading begins. */
  start: string;
  /** True if an earlier run has ended there: totals count the whole list. */
  isResumed: boolean;
  /** A longer list never ends. */
  maxItems: number;
  /** Consecutive pages without an item. */
  maxEmptyPages: number;
}

/** Allowed excess over the total: a list may grow while it is read, and totals may be estimates. */
const [TOTAL_FACTOR, TOTAL_MARGIN] = [10, 10_000];
const NEVER_ENDS = 'so that the list never ends';

export class ListWatch {
  private readonly positions = new VisitedPages();
  private readonly pages = new VisitedPages();
  private totals: { first: number; last: number; greatest: number } | undefined;
  private count = 0;
  private emptyPages = 0;

  constructor(private readonly options: WatchOptions) {
    this.positions.add(options.start);
  }

  /**
   * Throws BadAnswer for a page that shows that the list does not end. If the list ends before its
   * total, returns how much of it was read.
   */
  checkPage({ items, next, total }: Envelope): string | undefined {
    this.count += items.length;
    this.emptyPages = items.length === 0 ? this.emptyPages + 1 : 0;
    if (total !== undefined) {
      const { first = total, greatest = 0 } = this.totals ?? {};
      this.totals = { first, last: total, greatest: Math.max(greatest, total) };
    }
    const key = buildKey(items);
    if (key !== undefined && !this.pages.add(key))
      throw new BadAnswer(`has the records of an earlier page again, ${NEVER_ENDS}`);
    this.requireLength();
    if (next === undefined) return this.describeShortage();
    if (!this.positions.add(next))
      throw new BadAnswer(`is followed by ${next}, which was read before, ${NEVER_ENDS}`);
    if (this.emptyPages > this.options.maxEmptyPages)
      throw new BadAnswer(`is page ${this.emptyPages} in a row without records, ${NEVER_ENDS}`);
    return undefined;
  }

  private requireLength(): void {
    const { maxItems } = this.options;
    const total = this.totals?.greatest;
    if (total !== undefined && this.count > total * TOTAL_FACTOR + TOTAL_MARGIN)
      throw new BadAnswer(
        `is in a list of ${total} records, as it says, of which ${this.count} were read`,
      );
    if (this.count > maxItems)
      throw new BadAnswer(`is in a list that has not ended after ${maxItems} records`);
  }

  /**
   * Records that are added or deleted meanwhile are only in the last total or only in the first.
   */
  private describeShortage(): string | undefined {
    const { first, last } = this.totals ?? { first: 0, last: 0 };
    const total = Math.min(first, last);
    return this.options.isResumed || this.count >= total ? undefined : `${this.count} of ${total}`;
  }
}

/**
 * Equal for pages with the same records; undefined for an empty page, or for records without a
 * name.
 */
function buildKey(items: readonly unknown[]): string | undefined {
  const names = items.map((item) =>
    isObject(item) ? (item.id ?? item.value ?? item.caller_id) : item,
  );
  const isNamed = names.every((name) => typeof name === 'string' || typeof name === 'number');
  return isNamed && names.length > 0 ? names.join('\n') : undefined;
}
