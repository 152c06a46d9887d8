import type { Response } from 'express';

/** Aborted once the sender of a request has closed the connection, or it broke. */
export function watchClosing(res: Response): AbortSignal {
  const closing = new AbortController();
  res.once('close', () => closing.abort());
  if (res.destroyed) closing.abort();
  return closing.signal;
}
