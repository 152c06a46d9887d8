import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';

export interface Bell {
  ring(): void;
  /** Waits until it is rung, or was since the last wait, or for so many milliseconds. */
  rung(ms: number): Promise<void>;
}

export function bell(): Bell {
  let pending = false;
  let wake: (() => void) | undefined;
  return {
    ring: () => {
      pending = true;
      wake?.();
    },
    rung: async (ms) => {
      if (!pending) {
        const ringing = new AbortController();
        wake = () => ringing.abort();
        await setTimeout(ms, undefined, { signal: ringing.signal }).catch(() => undefined);
      }
      pending = false;
      wake = undefined;
    },
  };
}

interface Listening {
  url: string;
  channel: string;
  heard: (payload: string) => void;
  /** Whenever it begins to hear: what was told before, nobody heard. */
  listening?: () => void;
  stopping: AbortSignal;
}

/** Hears what is told on a channel as it is committed, by whichever process, until it is stopped; connects again whenever the connection breaks. */
export async function listen({
  url,
  channel,
  heard,
  listening,
  stopping,
}: Listening): Promise<void> {
  while (!stopping.aborted) {
    const client = new Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: 3_000,
    });
    const broken = new AbortController();
    client.once('end', () => broken.abort()).on('error', () => broken.abort());
    try {
      await client.connect();
      client.on('notification', ({ payload }) => heard(payload ?? ''));
      await client.query(`LISTEN ${channel}`);
      listening?.();
      await setTimeout(2 ** 31 - 1, undefined, {
        signal: AbortSignal.any([broken.signal, stopping]),
        ref: false,
      });
    } catch {
      // A notification is a hint: what is told of is found by polling too.
    }
    await client.end().catch(() => undefined);
    await setTimeout(1_000, undefined, { signal: stopping }).catch(() => undefined);
  }
}
