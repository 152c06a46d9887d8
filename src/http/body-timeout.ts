import type { RequestHandler } from 'express';
import { isMultipart } from './upload';

/** How long a body may take to arrive, unless it is a form with a file. */
const BODY_TIMEOUT_MS = 60_000;

/** Closes connections whose body arrives too slowly. Forms with files have an hour (server.ts). */
export const bodyTimeout: RequestHandler = (req, _res, next) => {
  const has_body =
    req.headers['transfer-encoding'] !== undefined ||
    Number(req.headers['content-length'] ?? 0) > 0;
  if (has_body && !isMultipart(req)) {
    const timer = setTimeout(() => req.destroy(), BODY_TIMEOUT_MS);
    req.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
  }
  next();
};
