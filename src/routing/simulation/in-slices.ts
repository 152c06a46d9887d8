import { setImmediate as nextTurn } from 'node:timers/promises';
import { semaphore } from '../../db/semaphore';

/** Milliseconds of work after which other work of the process, such as requests, goes on. */
const SLICE_MS = 4;
/** One replay at a time in the process, whatever its company: live calls come first. */
const oneAtATime = semaphore(1);

/** Runs a generator to its end, in slices. */
export const inSlices = <Result>(start: () => Generator<void, Result>): Promise<Result> =>
  oneAtATime(async () => {
    const work = start();
    for (let until = performance.now() + SLICE_MS; ;) {
      const { done, value } = work.next();
      if (done) return value;
      if (performance.now() < until) continue;
      await nextTurn();
      until = performance.now() + SLICE_MS;
    }
  });
