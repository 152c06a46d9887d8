import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

// AES-256-GCM: text that is stored, or that a browser keeps, and that only this service can read
// and make.

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A key of the pepper for one purpose: what is sealed for another cannot be opened with it. */
export const deriveKey = (pepper: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', pepper, '', purpose, 32));

export function seal(key: Buffer, text: string): Uint8Array<ArrayBuffer> {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return new Uint8Array(Buffer.concat([nonce, cipher.getAuthTag(), sealed]));
}

/** Throws for bytes that were sealed with another key, or changed. */
export function open(key: Buffer, sealed: Uint8Array): string {
  const bytes = Buffer.from(sealed);
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const end = NONCE_BYTES + TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, {
    authTagLength: TAG_BYTES,
  }).setAuthTag(bytes.subarray(NONCE_BYTES, end));
  return decipher.update(bytes.subarray(end), undefined, 'utf8') + decipher.final('utf8');
}
