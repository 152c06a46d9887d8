import { setTimeout } from 'node:timers/promises';
import { HostsClient } from './postgres/hosts-client';
import { pause } from '../platform/pause';

/** Wakes a loop that sleeps between two polls. */
export interface WakeSignal {
  notify(): void;
  /** Resolves on `notify`, at once if it was called since the last wait, or after `ms`. */
  wait(ms: number): Promise<void>;
}

export function createWakeSignal(): WakeSignal {
  let pending = false;
  let wake: (() => void) | undefined;
  return {
    notify: () => {
      pending = true;
      wake?.();
    },
    wait: async (ms) => {
      if (!pending) {
        const ringing = new AbortController();
        wake = () => ringing.abort();
        await pause(ms, ringing.signal);
      }
      pending = false;
      wake = undefined;
    },
  };
}

interface ListenOptions {
  url: string;
  channel: string;
  onNotification: (payload: string) => void;
  /** Called each time that listening starts: earlier notifications were lost. */
  onListening?: () => void;
  stopping: AbortSignal;
}

const RECONNECT_MS = 1_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Listens to a channel of PostgreSQL until stopped, and reconnects when the connection breaks. A
 * notification is a hint: the caller must also poll for what it announces.
 */
export async function listen(options: ListenOptions): Promise<void> {
  const { stopping } = options;
  while (!stopping.aborted) {
    await listenOnce(options);
    await pause(RECONNECT_MS, stopping);
  }
}

async function listenOnce({
  url,
  channel,
  onNotification,
  onListening,
  stopping,
}: ListenOptions): Promise<void> {
  const client = new HostsClient({
    connectionString: url,
    keepAlive: true,
    connectionTimeoutMillis: 3_000,
  });
  const broken = new AbortController();
  client.once('end', () => broken.abort()).on('error', () => broken.abort());
  try {
    await client.connect();
    client.on('notification', ({ payload }) => onNotification(payload ?? ''));
    await client.query(`LISTEN ${channel}`);
    onListening?.();
    const signal = AbortSignal.any([broken.signal, stopping]);
    await setTimeout(MAX_TIMER_MS, undefined, { signal, ref: false });
  } catch {
    // The caller connects again.
  }
  await client.end().catch(() => undefined);
}
