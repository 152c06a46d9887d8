import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { uuidv7 } from '../../data/uuid';
import { HttpProblem } from '../../platform/errors';
import { problemBody } from '../reply/error-handler';
import { bodyTooLarge } from './read-body';

// Node refuses some requests before the application gets them, with an empty answer. They get one
// in the shape of all errors.

/** The URL and all headers of a request together. */
export const MAX_HEADER_BYTES = 16_384;
/** How long a client may take to read why its connection ends. */
const GRACE_MS = 1_000;

interface ParserError extends Error {
  code?: string;
  /** In the words of the parser. */
  reason?: string;
}

/** Answers the requests that Node would refuse without a body. */
export function answerUnreadable(server: Server, log: Logger): void {
  // Node would drop headers after the 2,000th, such as an If-Match. Their bytes are limited anyway.
  server.maxHeadersCount = 0;
  const lastAnswers = new WeakMap<Duplex, ServerResponse>();
  server.prependListener(
    'request',
    (req: IncomingMessage, res: ServerResponse) => void lastAnswers.set(req.socket, res),
  );
  // An unknown expectation may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', (req, res) => void server.emit('request', req, res));
  const refuse = (socket: Duplex, problem: HttpProblem, fault?: string) => {
    const last = lastAnswers.get(socket);
    const isSending = last?.headersSent === true && !last.writableFinished;
    if (!socket.writable || isSending) return void socket.destroy();
    const requestId = uuidv7();
    log.info({ request_id: requestId, status: problem.status, fault }, 'unreadable request');
    endWith(socket, responseText(problem, requestId));
  };
  server.on('clientError', (error: ParserError, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || socket.writableEnded) return void socket.destroy();
    refuse(socket, problemFor(error), error.code);
  });
  server.on('connect', (_req: IncomingMessage, socket: Duplex) =>
    refuse(socket, new HttpProblem('method_not_allowed', 'CONNECT is not allowed here.')),
  );
}

function problemFor({ code, reason }: ParserError): HttpProblem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HttpProblem(
        'headers_too_large',
        `The URL and the headers have more than ${MAX_HEADER_BYTES} bytes.`,
      );
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return bodyTooLarge(MAX_HEADER_BYTES);
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpProblem('request_timeout', 'The request took too long to arrive.');
    default:
      return malformedHttp(reason ?? 'it cannot be parsed');
  }
}

const malformedHttp = (reason: string): HttpProblem =>
  new HttpProblem('malformed_request', `The request is not well-formed HTTP: ${reason}`);

/** Throws 400 for a request of HTTP/1.1 that does not say which host it is for. */
export function requireHost({ headers, httpVersionMinor }: IncomingMessage): void {
  if (headers.host === undefined && httpVersionMinor > 0)
    throw malformedHttp('the header Host is missing');
}

function responseText(problem: HttpProblem, requestId: string): string {
  const body = JSON.stringify(problemBody(problem, { instance: '', request_id: requestId }));
  const headers = {
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const { status } = problem;
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

/** A connection that is closed with unread bytes is reset, and the client may lose the answer. */
function endWith(socket: Duplex | Socket, text: string): void {
  const timeout = setTimeout(() => socket.destroy(), GRACE_MS).unref();
  socket.once('close', () => clearTimeout(timeout));
  socket.end(text);
  socket.resume();
}
