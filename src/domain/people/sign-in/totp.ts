import { createHmac, randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { encode } from 'uqr';
import { deriveKey, open, seal } from '../../../platform/sealed';

// Codes of an app (RFC 6238) and recovery codes, without the database.

const PERIOD_SECONDS = 30;
const SECRET_BYTES = 20;
const ISSUER = 'Trunkline';

const keyOf = (pepper: string): Buffer => deriveKey(pepper, 'second factor');

const toTotp = (secret: string, label = ''): TOTP =>
  new TOTP({ issuer: ISSUER, label, secret, digits: 6, period: PERIOD_SECONDS });

export interface ProposedSecret {
  /** As stored: only this service can read it. */
  sealed: Uint8Array<ArrayBuffer>;
  shown: { secret: string; uri: string; qr: { size: number; path: string } };
}

/** A new secret, with what an app reads it from. */
export function proposeSecret(email: string, company: string, pepper: string): ProposedSecret {
  const { base32 } = new Secret({ size: SECRET_BYTES });
  const uri = toTotp(base32, `${company}: ${email}`.replaceAll(':', ' ')).toString();
  const { size, data } = encode(uri, { border: 2 });
  return {
    sealed: seal(keyOf(pepper), base32),
    shown: { secret: base32, uri, qr: { size, path: drawModules(data) } },
  };
}

/** The dark modules as the path of an SVG: a stroke for each run of them in a row. */
const drawModules = (rows: readonly (readonly boolean[])[]): string =>
  rows
    .flatMap((row, y) =>
      row.flatMap((dark, x) =>
        dark && !row[x - 1] ? `M${x} ${y}h${countRun(row, x)}v1H${x}z` : [],
      ),
    )
    .join('');

function countRun(row: readonly boolean[], from: number): number {
  const end = row.indexOf(false, from);
  return (end < 0 ? row.length : end) - from;
}

/**
 * The step of time whose code this is, of those around now; undefined for another code, or a
 * secret that was sealed with another pepper.
 */
export function findStep(
  sealed: Uint8Array,
  code: string,
  { pepper, now }: { pepper: string; now: Date },
): bigint | undefined {
  let secret: string;
  try {
    secret = open(keyOf(pepper), sealed);
  } catch {
    return undefined;
  }
  const timestamp = now.getTime();
  const delta = toTotp(secret).validate({ token: code, timestamp, window: 1 });
  return delta === null ? undefined : BigInt(Math.floor(timestamp / 1000 / PERIOD_SECONDS) + delta);
}

const RECOVERY_CODES = 10;
/** Without those that people mistake for others. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const HALF = 5;

const drawHalf = (): string =>
  Array.from({ length: HALF }, () => LETTERS[randomInt(LETTERS.length)]).join('');

export const newRecoveryCodes = (): string[] =>
  Array.from({ length: RECOVERY_CODES }, () => `${drawHalf()}-${drawHalf()}`);

/** A code as it is stored, in whatever spelling it is typed. */
export function digestRecoveryCode(
  code: string,
  { company_id, user_id }: { company_id: bigint; user_id: bigint },
  pepper: string,
): Buffer {
  const plain = code.toLowerCase().replace(/[\s-]/g, '');
  return createHmac('sha256', pepper).update(`recovery/${company_id}/${user_id}/${plain}`).digest();
}
