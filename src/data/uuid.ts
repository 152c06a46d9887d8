import { randomUUID } from 'node:crypto';

/** A UUIDv7: the milliseconds of the time, then 74 random bits (RFC 9562). */
export function uuidv7(now = Date.now()): string {
  const time = now.toString(16).padStart(12, '0');
  // randomUUID draws from a buffer of random bytes kept for it, and its variant bits are those of a
  // v7.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
