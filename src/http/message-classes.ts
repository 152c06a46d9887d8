import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express } from 'express';

/**
 * The classes of which the server is to make requests and responses, so that they are Express's from the start. Express else changes the prototype of
 * each of them as it comes, and the engine then knows none of their shapes: that costs more than all of the rest of Express.
 */
export function messageClasses(app: Express): {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
} {
  class Request extends IncomingMessage {}
  class Response<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(Request.prototype, express.request);
  Object.setPrototypeOf(Response.prototype, express.response);
  for (const { prototype } of [Request, Response])
    Object.defineProperty(prototype, 'app', {
      value: app,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  Object.assign(app, { request: Request.prototype, response: Response.prototype });
  return { IncomingMessage: Request, ServerResponse: Response };
}
