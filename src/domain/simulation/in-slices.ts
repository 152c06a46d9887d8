import { semaphore } from '../../data/semaphore';
import { pauses } from '../../data/jobs/pauses';

/** Milliseconds; shorter than elsewhere, because live calls come first. */
const SLICE_MS = 4;
/** One replay at a time in the process, for all companies: live calls come first. */
const oneAtATime = semaphore(1);

/** Runs a generator to its end, in slices. */
export const runInSlices = <Result>(start: () => Generator<void, Result>): Promise<Result> =>
  oneAtATime(async () => {
    const work = start();
    const pause = pauses(SLICE_MS);
    for (;;) {
      const { done, value } = work.next();
      if (done) return value;
      const pendingPause = pause();
      if (pendingPause) await pendingPause;
    }
  });
