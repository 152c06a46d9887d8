import { request } from 'undici';
import { cutText, parseForeignJson } from '../storable-text';
import { readBytes, TooLarge } from '../bounded-reading';
import type { Failure, FailureCode } from './carrier';
import { toFailureCode } from './twilio-words';

export interface Account {
  account_sid: string;
  auth_token: string;
  base_url: string;
}

/** A list is sent as several fields of one name. */
export type Fields = Record<string, string | readonly string[] | undefined>;

export interface ApiRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** After /2010-04-01/Accounts/{sid}/, without .json. */
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
 * Sends one request once to Twilio or a service with its API. Follows no redirect, which would send
 * the credentials elsewhere.
 */
export async function ask(
  account: Account,
  { method, path, fields, key, signal }: ApiRequest,
): Promise<Answer> {
  const params = toParams(fields).toString();
  const { account_sid, auth_token, base_url } = account;
  const accounts = `${base_url.replace(/(?<!\/)\/+$/, '')}/2010-04-01/Accounts`;
  const url = `${accounts}/${encodeURIComponent(account_sid)}/${path}.json`;
  const credentials = Buffer.from(`${account_sid}:${auth_token}`).toString('base64');
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
    return interpret(statusCode, parse((await readBytes(body, MAX_ANSWER_BYTES)).toString()));
  } catch (error) {
    if (error instanceof TooLarge) return toUnusable(error.message);
    return noResponse(error);
  }
}

function toParams(fields: Fields): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    for (const item of [value ?? []].flat()) params.append(name, item);
  return params;
}

function parse(text: string): Json | undefined {
  const value = parseForeignJson(text);
  return typeof value === 'object' && value !== null ? (value as Json) : undefined;
}

/** Some services send the number as a text. */
function readCode(body: Json | undefined): number | undefined {
  const text = String(body?.code ?? '');
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

function interpret(status: number, body: Json | undefined): Answer {
  const code = readCode(body);
  const [codePart, text] = [code ? ` (${code})` : '', body?.message ? `: ${body.message}` : ''];
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
  const ours = code ? toFailureCode(code) : `http_${status}`;
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
