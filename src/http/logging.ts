import type { Request, Response } from 'express';
import type { Span } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Operation } from '../contract';
import { uuidv7 } from '../db/uuid';
import type { Caller } from './auth/caller';
import { maskUrl } from './log-url';
import { beginRequest, endRequest } from '../telemetry/tracing';
import { observeRequest } from './metrics';

/** The id that a client gave its request, if it is short and of harmless characters. */
function clientIdOf({ headers }: Request): string | undefined {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,100}$/.test(given) ? given : undefined;
}

/**
 * Gives every request an id, logs one line for it (operation, caller, status and duration), and
 * measures it. Neither headers nor bodies are logged. pino-http would cost 33 µs a request; this
 * costs 5.
 */
export function observed(log: Logger): (req: Request, res: Response) => Span | undefined {
  return (req, res) => {
    const started = performance.now();
    const request_id = (req.id = uuidv7());
    const client_request_id = (req.client_id = clientIdOf(req));
    res.setHeader('X-Request-Id', request_id);
    if (client_request_id) res.setHeader('X-Client-Request-Id', client_request_id);
    const { method, originalUrl } = req;
    const span = beginRequest(method, req.get('traceparent'));
    // "close" comes after the last byte, and also when the client disconnects before it.
    res.on('close', () => {
      const { operation, caller } = res.locals as { operation?: Operation; caller?: Caller };
      const ms = performance.now() - started;
      const is_complete = res.writableFinished;
      const status = res.statusCode;
      if (is_complete)
        observeRequest({ operation: operation?.id, method, status, seconds: ms / 1000 });
      const line = {
        request_id,
        client_request_id,
        method,
        url: maskUrl(originalUrl, operation),
        status,
        ms: Math.round(ms * 100) / 100,
        operation: operation?.id,
        company_id: caller && Number(caller.company_id),
        credentials: caller?.public_key,
        cut_off: is_complete ? undefined : true,
        trace_id: span?.spanContext().traceId,
      };
      log[status >= 500 ? 'error' : 'info'](line, 'request');
      if (span)
        endRequest(span, method, { operation_id: operation?.id, route: operation?.path, status });
    });
    return span;
  };
}
