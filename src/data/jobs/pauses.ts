import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of work after which other work of the process, such as requests, goes on. */
const SLICE_MS = 10;

/**
 * Returns a function to await between pieces of computation: when they have taken `slice_ms`, it
 * lets other work run first.
 */
export function pauses(sliceMs = SLICE_MS): () => Promise<void> | void {
  let until = performance.now() + sliceMs;
  return () => {
    if (performance.now() < until) return undefined;
    return nextTurn().then(() => void (until = performance.now() + sliceMs));
  };
}
