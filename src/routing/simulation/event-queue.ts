interface Due {
  at: number;
  order: number;
  run: () => void;
}

const before = (a: Due, b: Due) => a.at < b.at || (a.at === b.at && a.order < b.order);

/** What is yet to happen: the earliest first, of one time what was planned first. A binary heap. */
export function agenda() {
  const heap: Due[] = [];
  let order = 0;
  const swap = (a: number, b: number) => ([heap[a], heap[b]] = [heap[b]!, heap[a]!]);
  const take = (): Due => {
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length > 0) heap[0] = last;
    for (let at = 0; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && before(heap[child]!, heap[least]!)) least = child;
      if (least === at) return first;
      swap(at, least);
      at = least;
    }
  };
  return {
    plan: (at: number, run: () => void): void => {
      heap.push({ at, order: order++, run });
      for (let child = heap.length - 1; child > 0;) {
        const parent = (child - 1) >> 1;
        if (!before(heap[child]!, heap[parent]!)) return;
        swap(child, parent);
        child = parent;
      }
    },
    /** Has the next thing happen that is due until then; false when nothing is. */
    next: (until: number): boolean => {
      if (heap.length === 0 || heap[0]!.at > until) return false;
      take().run();
      return true;
    },
  };
}
