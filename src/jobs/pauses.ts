import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of work after which other work of the process, such as requests, goes on. */
const SLICE_MS = 10;

/**
 * Returns a function to await between pieces of work that computes: when the pieces have taken long
 * enough, it lets others run first.
 */
export function pauses(): () => Promise<void> | void {
  let until = performance.now() + SLICE_MS;
  return () => {
    if (performance.now() < until) return undefined;
    return nextTurn().then(() => void (until = performance.now() + SLICE_MS));
  };
}
