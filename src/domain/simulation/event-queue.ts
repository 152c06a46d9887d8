interface Event {
  at: number;
  order: number;
  run: () => void;
}

const isBefore = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order);

/** Future events of a replay: the earliest first, at the same time in the order added. A heap. */
export class EventQueue {
  private readonly heap: Event[] = [];
  private order = 0;

  /** `at` is in milliseconds. */
  add(at: number, run: () => void): void {
    const { heap } = this;
    heap.push({ at, order: this.order++, run });
    for (let child = heap.length - 1; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!isBefore(heap[child]!, heap[parent]!)) return;
      this.swap(child, parent);
      child = parent;
    }
  }

  /** Runs the next event that is due by `until`; false when there is none. */
  runNext(until: number): boolean {
    const [first] = this.heap;
    if (!first || first.at > until) return false;
    this.removeFirst();
    first.run();
    return true;
  }

  private removeFirst(): void {
    const { heap } = this;
    const last = heap.pop()!;
    if (heap.length > 0) heap[0] = last;
    for (let at = 0; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && isBefore(heap[child]!, heap[least]!)) least = child;
      if (least === at) return;
      this.swap(at, least);
      at = least;
    }
  }

  private swap(a: number, b: number): void {
    [this.heap[a], this.heap[b]] = [this.heap[b]!, this.heap[a]!];
  }
}
