import type { Request, Response } from 'express';
import type { EventStream } from './reply';

/** How long a client may stop reading. Meanwhile events wait in the database, not in memory. */
const STALLED_MS = 60_000;

/** No cache, no compression and no buffering on the way: a proxy that buffers delays the events. */
const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/**
 * Sends events as they come. The connection is closed when the client stops reading, and when
 * events can no longer be read; clients connect again and continue.
 */
export async function sendEvents(
  req: Request,
  res: Response,
  stream: EventStream,
  stalled_ms = STALLED_MS,
): Promise<void> {
  if (req.method === 'HEAD') return void res.set(HEADERS).end();
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  if (res.destroyed) return;
  // Before the headers: a stream over the limit is answered with a problem.
  const blocks = stream.events(gone.signal);
  res.set(HEADERS);
  res.flushHeaders();
  try {
    for await (const block of blocks) {
      if (gone.signal.aborted) return;
      if (!res.write(block) && !(await drained(res, stalled_ms))) return void res.destroy();
    }
    res.end();
  } catch {
    res.destroy();
  }
}

/** Resolves to false if the client does not read in time, or disconnects. */
function drained(res: Response, within_ms: number): Promise<boolean> {
  return new Promise((done) => {
    const end = (is_read: boolean) => () => {
      clearTimeout(timer);
      res.off('drain', on_drain).off('close', on_close);
      done(is_read);
    };
    const [on_drain, on_close] = [end(true), end(false)];
    const timer = setTimeout(on_close, within_ms);
    res.once('drain', on_drain).once('close', on_close);
  });
}
