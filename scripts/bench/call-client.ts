import { Pool } from 'undici';
import { phoneNumber } from './shop';
import type { BenchWorld } from './world';

export type CallEvent =
  | { event: 'ringing' | 'answered' | 'busy' | 'no_answer' }
  | { event: 'key_press'; key: string }
  | { event: 'completed'; duration?: number };

export interface StartedCall {
  id: number;
  uuid: string;
  is_dialed: boolean;
}

interface Session {
  call_session: { id: number; uuid: string; instruction: { action: string } };
}

/** A softswitch: starts calls and reports their events over HTTP. */
export class CallClient {
  private readonly pool: Pool;
  private readonly headers: Record<string, string>;

  constructor({ auth }: BenchWorld, port: string, connections: number) {
    this.pool = new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1 });
    this.headers = {
      authorization: `Basic ${Buffer.from(auth).toString('base64')}`,
      'content-type': 'application/json',
    };
  }

  async begin(n: number, call: Record<string, unknown>): Promise<StartedCall> {
    const { call_session } = await this.post<Session>('call_sessions', {
      caller_number: `+${phoneNumber(n)}`,
      tokens: { state: 'CA' },
      ...call,
    });
    const { id, uuid, instruction } = call_session;
    return { id, uuid, is_dialed: instruction.action === 'dial' };
  }

  async report({ uuid }: Pick<StartedCall, 'uuid'>, event: CallEvent): Promise<Session> {
    return this.post<Session>(`call_sessions/${uuid}/events`, event);
  }

  async post<T>(path: string, body: object): Promise<T> {
    const res = await this.pool.request({
      method: 'POST',
      path: `/api/v1/${path}`,
      headers: this.headers,
      body: JSON.stringify(body),
    });
    const text = await res.body.text();
    if (res.statusCode >= 300) throw new Error(`${path}: ${res.statusCode} ${text}`);
    return JSON.parse(text) as T;
  }

  close(): Promise<void> {
    return this.pool.close();
  }
}

/** Runs `work` for the items in order, for `lanes` items at a time. */
export async function runConcurrently<T>(
  items: readonly T[],
  lanes: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const queue = items.values();
  const lane = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Repeats `work` in `lanes` parallel loops for a number of seconds. */
export async function repeatConcurrently(
  lanes: number,
  seconds: number,
  work: () => Promise<unknown>,
): Promise<void> {
  const until = performance.now() + seconds * 1000;
  const lane = async () => {
    while (performance.now() < until) await work();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
