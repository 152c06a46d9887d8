import type { Request, Response } from 'express';
import type { EventStream } from './reply';

/** How long a reader may stand still. Events wait in the database meanwhile, not in memory. */
const STALLED_MS = 60_000;

/** Neither kept nor compressed nor held back on its way: whoever collects answers until they are worth sending would hold the events back. */
const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Sends events as they come. A reader who has stopped reading is cut off, and so is everybody when events can no longer be read: they connect again and go on. */
export async function sendEvents(
  req: Request,
  res: Response,
  stream: EventStream,
  stalled_ms = STALLED_MS,
): Promise<void> {
  res.set(HEADERS);
  if (req.method === 'HEAD') return void res.end();
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  if (res.destroyed) return;
  res.flushHeaders();
  try {
    for await (const block of stream.events(gone.signal)) {
      if (gone.signal.aborted) return;
      if (!res.write(block) && !(await drained(res, stalled_ms))) return void res.destroy();
    }
    res.end();
  } catch {
    res.destroy();
  }
}

/** Whether what was written is taken in time. */
function drained(res: Response, within_ms: number): Promise<boolean> {
  return new Promise((done) => {
    const end = (taken: boolean) => () => {
      clearTimeout(timer);
      res.off('drain', on_drain).off('close', on_close);
      done(taken);
    };
    const [on_drain, on_close] = [end(true), end(false)];
    const timer = setTimeout(on_close, within_ms);
    res.once('drain', on_drain).once('close', on_close);
  });
}
