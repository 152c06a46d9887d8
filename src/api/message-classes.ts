import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express } from 'express';

/**
 * Classes for the requests and responses of the server, with the prototypes of Express. Otherwise
 * Express changes the prototype of each request as it comes, which makes every property access
 * slow: that costs more than the rest of Express.
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
