import type { Request } from 'express';

export interface BodyTimeouts {
  body_ms: number;
  /** A file may take longer, as long as each such period brings `file_bytes`. */
  file_ms: number;
  file_bytes: number;
}

/** A megabyte in 17 minutes is slower than any line that people upload over. */
export const BODY_TIMEOUTS: BodyTimeouts = { body_ms: 60_000, file_ms: 60_000, file_bytes: 61_440 };

const timers = new WeakMap<Request, NodeJS.Timeout>();

/**
 * Closes connections whose body arrives too slowly. The limit begins again while nothing reads it:
 * that takes a slow database, not a slow sender.
 */
export function bodyTimeout({ body_ms }: BodyTimeouts): (req: Request) => void {
  return (req) => {
    const hasBody =
      req.headers['transfer-encoding'] !== undefined ||
      Number(req.headers['content-length'] ?? 0) > 0;
    if (!hasBody) return;
    const check = () => {
      if (req.readableFlowing === null) timers.get(req)?.refresh();
      else req.destroy();
    };
    timers.set(req, setTimeout(check, body_ms).unref());
    const stop = () => clearTimeout(timers.get(req));
    req.once('end', stop).once('close', stop);
  };
}

/** The body has a file: from now on it may take as long as it needs, if it keeps coming. */
export function expectFile(req: Request, { file_ms, file_bytes }: BodyTimeouts): void {
  const timer = timers.get(req);
  // Without a body nothing would end the checks.
  if (timer === undefined || req.readableEnded || req.destroyed) return;
  clearTimeout(timer);
  let before = req.socket.bytesRead;
  const check = () => {
    const now = req.socket.bytesRead;
    if (now - before < file_bytes) req.destroy();
    before = now;
  };
  timers.set(req, setInterval(check, file_ms).unref());
}
