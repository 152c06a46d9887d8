import { createServer } from 'node:http';
import { listen as listenOn } from './loopback';
import type { World } from './world';

export interface ReadEvent {
  id: string;
  event: string;
  data: { id: number; content?: string | null };
}

export interface Reader {
  status: number;
  /** The response, when it is not a stream. */
  problem: { errors: Record<string, string[]> } | undefined;
  events: ReadEvent[];
  /** The id to resume from: of the last event, or the position at which the stream began. */
  last_id: string;
  comments: number;
  /** Waits until there are so many events. */
  have(count: number): Promise<ReadEvent[]>;
  /** Resolves when the server ends the stream; to false when the connection broke. */
  ended: Promise<boolean>;
  leave(): void;
}

/** A server with a port, for requests that supertest cannot make. */
export const listen = (app: World['app']) => listenOn(createServer(app as never));

/** Reads a stream of server-sent events, as browsers do. */
export async function openStream(
  url: string,
  token: string,
  {
    after,
    query = '',
    path = 'agent_messages/stream',
  }: { after?: string; query?: string; path?: string } = {},
): Promise<Reader> {
  const leaving = new AbortController();
  const headers = {
    Authorization: `Token ${token}`,
    'Accept-Encoding': 'gzip',
    ...(after !== undefined && { 'Last-Event-ID': after }),
  };
  const res = await fetch(`${url}/api/v1/${path}${query}`, {
    headers,
    signal: leaving.signal,
  });
  const isStream = res.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const waiting = new Set<() => void>();
  const reader: Reader = {
    status: res.status,
    problem: isStream ? undefined : ((await res.json()) as Reader['problem']),
    events: [],
    last_id: after ?? '',
    comments: 0,
    have: async (count) => {
      while (reader.events.length < count) await new Promise<void>((done) => waiting.add(done));
      return reader.events;
    },
    ended: Promise.resolve(true),
    leave: () => leaving.abort(),
  };
  if (isStream) reader.ended = read(res, reader, waiting);
  return reader;
}

async function read(res: Response, reader: Reader, waiting: Set<() => void>): Promise<boolean> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of res.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      blocks.forEach((block) => take(block, reader));
      waiting.forEach((wake) => wake());
      waiting.clear();
    }
    return true;
  } catch {
    return false;
  }
}

function take(block: string, reader: Reader): void {
  if (block.startsWith(':')) reader.comments += 1;
  const fields = Object.fromEntries(
    block
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
  if (fields.id !== undefined) reader.last_id = fields.id;
  if (fields.data !== undefined)
    reader.events.push({
      id: fields.id!,
      event: fields.event!,
      data: JSON.parse(fields.data) as ReadEvent['data'],
    });
}
