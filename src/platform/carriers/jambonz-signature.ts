import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SignedRequest } from './dialects/dialect';

export const JAMBONZ_SIGNATURE = 'jambonz-signature';
const MAX_AGE_SECONDS = 300;
const HEADER = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/;

/** The signature that jambonz makes of a body (JSON), at a time in seconds. */
export const computeJambonzSignature = (secret: string, seconds: number, text: string): Buffer =>
  createHmac('sha256', secret).update(`${seconds}.${text}`, 'utf8').digest();

/**
 * True if the sender knows the secret. The signature covers the time and the body, but not the URL:
 * the secret is the account's own, so that no other customer of a jambonz can sign a request.
 */
export function isSignedByJambonz(
  { json_text, received_at, getHeader }: SignedRequest,
  secret: string,
): boolean {
  const [, time, signature] = HEADER.exec(getHeader(JAMBONZ_SIGNATURE) ?? '') ?? [];
  if (!secret || signature === undefined || json_text === undefined) return false;
  const seconds = Number(time);
  if (Math.abs(received_at.getTime() / 1000 - seconds) > MAX_AGE_SECONDS) return false;
  const expected = computeJambonzSignature(secret, seconds, json_text);
  return timingSafeEqual(Buffer.from(signature, 'hex'), expected);
}
