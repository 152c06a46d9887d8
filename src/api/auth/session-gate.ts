import type { Request } from 'express';
import { BASE_PATH } from '../../platform/contract/contract';
import { requireSameOrigin } from './same-origin';
import { readSessionCookie, type CookieSettings } from './session-cookie';

/**
 * Lets a request of the console pass to the API below it: from the same origin alone, and with the
 * session in its cookie as its only credentials. Everything after it sees the path of the contract.
 */
export const sessionGate =
  (settings: CookieSettings): ((req: Request) => void) =>
  (req) => {
    req.originalUrl = BASE_PATH + req.url;
    requireSameOrigin(req, settings);
    req.session = readSessionCookie(req, settings);
  };
