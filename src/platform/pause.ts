import { setTimeout as sleep } from 'node:timers/promises';

/** Waits; at once over when the signal comes. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);
