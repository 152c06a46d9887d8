import { BACKGROUND } from './activity';
import type { Transport } from './transport';

/** An event of the company, as the API streams it. */
export interface LiveEvent {
  kind: 'call' | 'cap' | 'lead' | 'import' | 'reset';
  data: Record<string, string | number | null>;
}

export type StreamState = 'connecting' | 'live' | 'off';

export interface Events {
  /** Calls back for each event; returns the function that ends it. */
  subscribe(heard: (event: LiveEvent) => void): () => void;
  /** Calls back with the state of the stream, now and when it changes. */
  watch(changed: (state: StreamState) => void): () => void;
  close(): void;
}

const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;

/**
 * Follows the stream of events and resumes it after the last one it had. EventSource cannot send
 * the Authorization header, so the stream is read with fetch.
 */
export function openEvents(transport: Transport): Events {
  const stream = new Stream(transport);
  void stream.follow();
  return stream;
}

class Stream implements Events {
  private readonly listeners = new Set<(event: LiveEvent) => void>();
  private readonly watchers = new Set<(state: StreamState) => void>();
  private readonly closing = new AbortController();
  private state: StreamState = 'connecting';
  private last_id: string | undefined;
  private wait_ms = FIRST_WAIT_MS;

  constructor(private readonly transport: Transport) {}

  subscribe(heard: (event: LiveEvent) => void): () => void {
    this.listeners.add(heard);
    return () => void this.listeners.delete(heard);
  }

  watch(changed: (state: StreamState) => void): () => void {
    this.watchers.add(changed);
    changed(this.state);
    return () => void this.watchers.delete(changed);
  }

  close(): void {
    this.closing.abort();
  }

  async follow(): Promise<void> {
    while (!this.closing.signal.aborted) {
      const next = await this.readOnce().catch(() => 'retry' as const);
      if (next === 'stop') break;
      this.become('connecting');
      await new Promise((done) => setTimeout(done, this.wait_ms));
      this.wait_ms = Math.min(this.wait_ms * 2, MAX_WAIT_MS);
    }
    this.become('off');
  }

  private become(state: StreamState): void {
    this.state = state;
    for (const changed of this.watchers) changed(state);
  }

  private async readOnce(): Promise<'retry' | 'stop'> {
    const { last_id } = this;
    const { base, headers, credentials, onRefused } = this.transport;
    const res = await fetch(`${base}/events/stream`, {
      headers: {
        ...headers,
        ...BACKGROUND,
        ...(last_id !== undefined && { 'Last-Event-ID': last_id }),
      },
      credentials,
      signal: this.closing.signal,
    });
    if (res.status === 401) onRefused();
    if (res.status === 401 || res.status === 403) return 'stop';
    // The position is not valid any more: start with new events.
    if (res.status === 422) this.last_id = undefined;
    if (!res.ok || !res.body) return 'retry';
    this.become('live');
    this.wait_ms = FIRST_WAIT_MS;
    const reader = res.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return 'retry';
      const blocks = (text + value).split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) this.take(block);
    }
  }

  private take(block: string): void {
    const fields = new Map(
      block.split('\n').map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
      }),
    );
    this.last_id = fields.get('id') ?? this.last_id;
    const data = fields.get('data');
    if (data === undefined) return;
    const event = { kind: fields.get('event'), data: JSON.parse(data) } as LiveEvent;
    for (const heard of this.listeners) heard(event);
  }
}
