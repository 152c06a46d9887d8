import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import type { Operation } from '../contract';
import { uuidv7 } from '../ids';
import type { Caller } from './auth';

/** A URL without secrets and with telephone numbers cut to their last digits. */
export function maskUrl(url: string): string {
  return url.replace(/((?:auth_|lead_)?token=)[^&]*/gi, '$1***').replace(/(?:%2B|\+)?\d{6,11}(\d{4})(?!\d)/gi, '***$1');
}

/** One line a request: who, what, how it ended, how long it took. Neither headers nor bodies are logged. */
export function requestLog(log: Logger): RequestHandler {
  return pinoHttp({
    logger: log,
    genReqId: (req, res) => {
      const given = req.headers['x-request-id'];
      const id = typeof given === 'string' && /^[\w.:-]{1,100}$/.test(given) ? given : uuidv7();
      res.setHeader('X-Request-Id', id);
      return id;
    },
    serializers: {
      req: (req: { id: unknown; method: string; url: string; raw: { originalUrl?: string } }) => ({
        id: req.id,
        method: req.method,
        url: maskUrl(req.raw.originalUrl ?? req.url),
      }),
      res: (res: { statusCode: number }) => ({ status: res.statusCode }),
    },
    customProps: (_req, res) => {
      const { operation, caller } = (res as unknown as { locals?: { operation?: Operation; caller?: Caller } }).locals ?? {};
      return { operation: operation?.id, company_id: caller && Number(caller.company_id), credentials: caller?.public_key };
    },
    customLogLevel: (_req, res, error) => (error || res.statusCode >= 500 ? 'error' : 'info'),
    customSuccessMessage: () => 'request',
    customErrorMessage: () => 'request',
    customReceivedMessage: undefined,
  }) as unknown as RequestHandler;
}
