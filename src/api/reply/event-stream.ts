import type { Request, Response } from 'express';
import { watchClosing } from '../watch-closing';
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
  stalledMs = STALLED_MS,
): Promise<void> {
  if (req.method === 'HEAD') return void res.set(HEADERS).end();
  const gone = watchClosing(res);
  if (gone.aborted) return;
  // Before the headers: a stream over the limit is answered with a problem.
  const blocks = stream.events(gone);
  res.set(HEADERS);
  res.flushHeaders();
  try {
    for await (const block of blocks) {
      if (gone.aborted) return;
      if (!res.write(block) && !(await waitForDrain(res, stalledMs))) return void res.destroy();
    }
    res.end();
  } catch {
    res.destroy();
  }
}

/** Resolves to false if the client does not read in time, or disconnects. */
function waitForDrain(res: Response, withinMs: number): Promise<boolean> {
  return new Promise((done) => {
    const end = (isRead: boolean) => () => {
      clearTimeout(timer);
      res.off('drain', onDrain).off('close', onClose);
      done(isRead);
    };
    const [onDrain, onClose] = [end(true), end(false)];
    const timer = setTimeout(onClose, withinMs);
    res.once('drain', onDrain).once('close', onClose);
  });
}
