import { request } from 'undici';
import { cutText, parseForeignJson } from '../storable-text';
import { readBytes, TooLarge } from '../bounded-reading';
import type { Failure, FailureCode } from './carrier';

// Requests to the REST of a carrier, and what its answers mean.

export interface SentRequest {
  url: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  headers: Record<string, string>;
  body?: string | undefined;
  signal: AbortSignal;
}

export type Json = Record<string, unknown>;
export type Answer = { ok: true; body: Json } | Failure;

/** The failure that a code of the carrier means. */
type ToFailureCode = (code: number) => string;

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
 * Sends one request once. Follows no redirect, which would send the credentials elsewhere. Never
 * throws.
 */
export async function sendRequest(
  { url, headers, body, ...rest }: SentRequest,
  toFailureCode: ToFailureCode,
): Promise<Answer> {
  try {
    const answer = await request(url, {
      ...rest,
      headers: { accept: 'application/json', ...headers },
      ...(body !== undefined && { body }),
    });
    const text = (await readBytes(answer.body, MAX_ANSWER_BYTES)).toString();
    return interpret(answer.statusCode, parse(text), toFailureCode);
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
  const [code, text] = [
    String(error?.code ?? ''),
    error?.message ?? error?.detail ?? error?.title ?? error?.msg,
  ];
  return {
    code: /^[1-9]\d{0,8}$/.test(code) ? Number(code) : undefined,
    text: typeof text === 'string' ? text : undefined,
  };
}

function interpret(status: number, body: Json | undefined, toFailureCode: ToFailureCode): Answer {
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
  // Deletions return no content, and what is only accepted may return a text.
  if (status === 204 || (status === 202 && !body)) return { ok: true, body: {} };
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
