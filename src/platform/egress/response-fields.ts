import type { RequestOutcome } from './guarded-request';
import { cutText } from '../storable-text';
import { maskHeaders } from './request-template';

/** Longer values are cut. */
const BODY_CHARS = 5_000;
const HEADER_CHARS = 1_000;

export interface ResponseFields {
  /** Milliseconds. */
  duration: number;
  code: number | null;
  response_headers: Record<string, string> | null;
  response_body: string | null;
}

export function toResponseFields(answered: RequestOutcome): ResponseFields {
  const { ok, duration_ms: duration } = answered;
  if (!ok) return { duration, code: null, response_headers: null, response_body: null };
  const headers = Object.entries(maskHeaders(answered.headers)).map(([name, value]) => [
    name,
    cutText(value, HEADER_CHARS),
  ]);
  return {
    duration,
    code: answered.code,
    response_headers: Object.fromEntries(headers) as Record<string, string>,
    response_body: cutText(answered.body, BODY_CHARS),
  };
}
