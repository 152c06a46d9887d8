import { request } from 'undici';
import { cutText, parseForeignJson } from '../storable-text';
import { readBytes, TooLarge } from '../bounded-reading';
import type { Failure, FailureCode } from './carrier';
import { toParams, type Account, type Dialect, type Fields } from './dialects/dialect';
import { toFailureCode } from './twilio-words';

/** An account at a carrier that speaks TwiML. */
export interface Line {
  dialect: Dialect;
  account: Account;
}

export interface ApiRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** As in Twilio's REST: after /2010-04-01/Accounts/{sid}/, without .json. */
  path: string;
  fields: Fields;
  key?: string;
  signal: AbortSignal;
}

export type Json = Record<string, unknown>;
export type Answer = { ok: true; body: Json } | Failure;

const MAX_MESSAGE_CHARS = 500;
/** A list of a thousand records has less. */
const MAX_ANSWER_BYTES = 10_000_000;

/** Errors before the connection is open: nothing was sent. */
const BEFORE_SENDING = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

/**
 * Sends one request once, as the carrier's dialect has it. Follows no redirect, which would send
 * the credentials elsewhere.
 */
export async function ask(
  { dialect, account }: Line,
  { method, path, fields, key, signal }: ApiRequest,
): Promise<Answer> {
  const url = dialect.buildUrl(account, path);
  const query = method === 'POST' ? '' : toParams(fields).toString();
  const encoded = method === 'POST' ? dialect.encode(account, path, fields) : undefined;
  const headers = {
    authorization: dialect.authorize(account),
    accept: 'application/json',
    ...(key && dialect.idempotency_header && { [dialect.idempotency_header]: key }),
    ...(encoded && { 'content-type': encoded.content_type }),
  };
  try {
    const { statusCode, body } = await request(query ? `${url}?${query}` : url, {
      method,
      headers,
      signal,
      ...(encoded && { body: encoded.body }),
    });
    const answer = parse((await readBytes(body, MAX_ANSWER_BYTES)).toString());
    return interpret(dialect, statusCode, answer);
  } catch (error) {
    if (error instanceof TooLarge) return toUnusable(error.message);
    return noResponse(error);
  }
}

function parse(text: string): Json | undefined {
  const value = parseForeignJson(text);
  return typeof value === 'object' && value !== null ? (value as Json) : undefined;
}

interface Refusal {
  code: number | undefined;
  text: string | undefined;
}

/** Some services send the number as a text, and some a list of errors. */
function readRefusal(body: Json | undefined): Refusal {
  const [error = body] = Array.isArray(body?.errors) ? (body.errors as (Json | undefined)[]) : [];
  const [code, text] = [String(error?.code ?? ''), error?.message ?? error?.detail ?? error?.title];
  return {
    code: /^[1-9]\d{0,8}$/.test(code) ? Number(code) : undefined,
    text: typeof text === 'string' ? text : undefined,
  };
}

function interpret(dialect: Dialect, status: number, body: Json | undefined): Answer {
  const { code, text: reason } = readRefusal(body);
  const [codePart, text] = [code ? ` (${code})` : '', reason ? `: ${reason}` : ''];
  const answer = `The carrier answered ${status}${codePart}${text}`;
  const message = cutText(answer, MAX_MESSAGE_CHARS);
  const failure = (failed: FailureCode, more: Partial<Failure> = {}): Failure => ({
    ok: false,
    retryable: true,
    code: failed,
    message,
    ...more,
  });
  // Deletions return no content.
  if (status === 204) return { ok: true, body: {} };
  if (status >= 200 && status < 300)
    return body
      ? { ok: true, body }
      : failure('unavailable', { maybe_sent: true, message: `${message}, but not with JSON` });
  if (status === 429) return failure('unavailable');
  if (status === 408 || status >= 500) return failure('unavailable', { maybe_sent: true });
  // Codes from 20000 to 20999 are about the account, others about the request. The operator can
  // correct the account or the address, so that these are retried.
  if (status === 401 || (status === 403 && (!code || code < 21_000)))
    return failure('unauthorized');
  if (status < 400 || status === 404) return failure('not_found');
  const ours = code ? toFailureCode(code, dialect) : `http_${status}`;
  return { ok: false, retryable: ours === 'unavailable', code: ours, message };
}

/** For an answer that does not show what the carrier has done. */
export const toUnusable = (fault: string): Failure => ({
  ok: false,
  retryable: true,
  maybe_sent: true,
  code: 'unavailable',
  message: `The carrier's answer ${fault}.`,
});

/** Undefined where the answer has no list, or something other than records in it. */
export function readRecords(body: Json, list: string): Json[] | undefined {
  const records = body[list];
  const isRecord = (value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  return Array.isArray(records) && records.every(isRecord) ? (records as Json[]) : undefined;
}

/** Undefined for an id that cannot be stored and found again. */
export const readSid = ({ sid }: Json): string | undefined =>
  typeof sid === 'string' && /^[\x21-\x7e]{1,100}$/.test(sid) ? sid : undefined;

function noResponse(error: unknown): Failure {
  const { name, code, message } = error as { name: string; code?: string; message: string };
  const late = name === 'TimeoutError';
  return {
    ok: false,
    retryable: true,
    ...(!BEFORE_SENDING.includes(code ?? '') && { maybe_sent: true }),
    code: 'unavailable',
    message: late
      ? 'The carrier did not answer in time.'
      : cutText(`The carrier cannot be reached: ${code ?? message}`, MAX_MESSAGE_CHARS),
  };
}
