import type { Agent, Dispatcher } from 'undici';
import { toStorable } from '../storable-text';

/** Bytes of a response body that are read at most. */
const BODY_BYTES = 20_000;

export interface ResponseStart {
  code: number;
  body: string;
  headers: Record<string, string>;
}

/** Builds an error with a code, like those of Node. */
export const errorWithCode = (code: string): NodeJS.ErrnoException =>
  Object.assign(new Error(code), { code });

/**
 * Sends a request and reads the beginning of the response. The time limit covers everything,
 * including the wait for a free connection. Rejects with the error of Node or undici.
 *
 * Uses undici's dispatcher without its streams and signals, which cost time: the deliveries of a
 * webhook wait for one another.
 */
export function exchange(
  agent: Agent,
  request: Dispatcher.DispatchOptions,
  timeoutMs: number,
): Promise<ResponseStart> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let [code, bytes] = [0, 0];
    let headers: Record<string, string> = {};
    let controller: Dispatcher.DispatchController | undefined;
    let expired: Error | undefined;
    const fail = (error: Error) => {
      clearTimeout(limit);
      reject(error);
    };
    const limit = setTimeout(() => {
      expired = errorWithCode('ETIMEDOUT');
      controller?.abort(expired);
      fail(expired);
    }, timeoutMs);
    const finish = () => {
      clearTimeout(limit);
      resolve({ code, headers, body: decodeBody(chunks, bytes) });
    };
    agent.dispatch(request, {
      onRequestStart: (started) => {
        controller = started;
        if (expired) started.abort(expired);
      },
      onResponseStart: (_, status, fields) => {
        if (status >= 200) [code, headers] = [status, joinValues(fields)];
      },
      onResponseData: (started, chunk) => {
        if (bytes > BODY_BYTES) return;
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes <= BODY_BYTES) return;
        finish();
        // Closes the connection, so that the rest is not read.
        started.abort(errorWithCode('ECONNABORTED'));
      },
      onResponseEnd: finish,
      onResponseError: (_, error) => fail(error),
    });
  });
}

function joinValues(fields: Record<string, string | string[] | undefined>): Record<string, string> {
  const joined = Object.entries(fields).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ]);
  return Object.fromEntries(joined) as Record<string, string>;
}

/** Decodes UTF-8, as it can be stored. `stream` leaves out a character that the limit cuts. */
const decodeBody = (chunks: readonly Uint8Array[], bytes: number): string =>
  toStorable(
    new TextDecoder().decode(Buffer.concat(chunks).subarray(0, BODY_BYTES), {
      stream: bytes > BODY_BYTES,
    }),
  );
