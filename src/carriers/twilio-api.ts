import { request } from 'undici';
import type { Failure, FailureCode } from './carrier';
import { failureCodeOf } from './twilio-words';

export interface Account {
  account_sid: string;
  auth_token: string;
  base_url: string;
}

/** A list is sent as the same name several times. */
export type Fields = Record<string, string | readonly string[] | undefined>;

export interface Question {
  method: 'GET' | 'POST' | 'DELETE';
  /** Behind /2010-04-01/Accounts/{sid}/, without .json. */
  path: string;
  fields: Fields;
  key?: string;
  signal: AbortSignal;
}

export type Json = Record<string, unknown>;
export type Answer = { ok: true; body: Json } | Failure;

const MESSAGE_CHARS = 500;

/** Errors that come before a connection is there, so that nothing can have been sent. */
const BEFORE_SENDING = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** Asks Twilio, or a service that speaks its REST, one thing once. Follows no redirect: it would carry the credentials elsewhere. */
export async function ask(
  account: Account,
  { method, path, fields, key, signal }: Question,
): Promise<Answer> {
  const params = paramsOf(fields).toString();
  const url = `${account.base_url.replace(/\/+$/, '')}/2010-04-01/Accounts/${encodeURIComponent(account.account_sid)}/${path}.json`;
  const credentials = Buffer.from(`${account.account_sid}:${account.auth_token}`).toString(
    'base64',
  );
  const headers = {
    authorization: `Basic ${credentials}`,
    accept: 'application/json',
    ...(key && { 'i-twilio-idempotency-token': key }),
    ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded' }),
  };
  try {
    const { statusCode, body } = await request(
      params && method !== 'POST' ? `${url}?${params}` : url,
      {
        method,
        headers,
        signal,
        ...(method === 'POST' && { body: params }),
      },
    );
    return understand(statusCode, parse(await body.text()));
  } catch (error) {
    return unanswered(error);
  }
}

function paramsOf(fields: Fields): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    for (const one of [value ?? []].flat()) params.append(name, one);
  return params;
}

function parse(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

function understand(status: number, body: Json | undefined): Answer {
  const code = typeof body?.code === 'number' ? body.code : undefined;
  const message =
    `The carrier answered ${status}${code ? ` (${code})` : ''}${body?.message ? `: ${body.message}` : ''}`.slice(
      0,
      MESSAGE_CHARS,
    );
  const failure = (failed: FailureCode, more: Partial<Failure> = {}): Failure => ({
    ok: false,
    retryable: true,
    code: failed,
    message,
    ...more,
  });
  // No content is what a deletion is answered with.
  if (status === 204) return { ok: true, body: {} };
  if (status >= 200 && status < 300)
    return body
      ? { ok: true, body }
      : failure('unavailable', { maybe_sent: true, message: `${message}, and no JSON` });
  if (status === 429) return failure('unavailable');
  if (status === 408 || status >= 500) return failure('unavailable', { maybe_sent: true });
  // Codes from 20000 to 20999 are about the account, the others about what was asked for. The operator can mend an account, or an address.
  if (status === 401 || (status === 403 && (!code || code < 21_000)))
    return failure('unauthorized');
  if (status < 400 || status === 404) return failure('not_found');
  const ours = code ? failureCodeOf(code) : `http_${status}`;
  return { ok: false, retryable: ours === 'unavailable', code: ours, message };
}

function unanswered(error: unknown): Failure {
  const { name, code, message } = error as { name: string; code?: string; message: string };
  const late = name === 'TimeoutError';
  return {
    ok: false,
    retryable: true,
    ...(!BEFORE_SENDING.includes(code ?? '') && { maybe_sent: true }),
    code: 'unavailable',
    message: late
      ? 'The carrier did not answer in time.'
      : `The carrier cannot be reached: ${code ?? message}`.slice(0, MESSAGE_CHARS),
  };
}
