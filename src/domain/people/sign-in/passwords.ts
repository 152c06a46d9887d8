import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { hash, verify } from '@node-rs/argon2';
import { HttpProblem } from '../../../platform/errors';
import { semaphore } from '../../../data/semaphore';

// Passwords are stored as argon2id, with the pepper as its secret: what is read from the database
// alone cannot be tried.

export const MIN_PASSWORD = 12;
export const MAX_PASSWORD = 256;

/** The cost that OWASP names: 19 MiB, two passes, one lane. The library's kind is argon2id. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Each takes a thread of the pool and 19 MiB: requests must not wait behind many of them. */
const oneOfFew = semaphore(4);

/** Keyboards write an accented letter in more than one way. */
const toBytes = (password: string): Buffer => Buffer.from(password.normalize('NFKC'), 'utf8');

export const hashPassword = (password: string, pepper: string): Promise<string> =>
  oneOfFew(() => hash(toBytes(password), { ...COST, secret: Buffer.from(pepper, 'utf8') }));

/** False for a hash that was made with another pepper. */
export const verifyPassword = (
  password: string,
  passwordHash: string,
  pepper: string,
): Promise<boolean> =>
  oneOfFew(() => verify(passwordHash, toBytes(password), { secret: Buffer.from(pepper, 'utf8') }));

/** Takes as long as a verification: an answer does not tell whether there is a password. */
export const verifyNothing = async (password: string, pepper: string): Promise<false> => {
  await hashPassword(password, pepper);
  return false;
};

const FILE = join(__dirname, '../../../../assets/common-passwords.txt.gz');
let common: Set<string> | undefined;

/** Read when the first password is set. */
const loadCommon = (): Set<string> =>
  (common ??= new Set(gunzipSync(readFileSync(FILE)).toString('utf8').trim().split('\n')));

export interface PasswordOwner {
  email: string;
  name: string | null;
  company_name: string;
}

const PRODUCT = 'trunkline';

/** Throws 422 for a password that others would guess. */
export function requireGoodPassword(password: string, owner: PasswordOwner): void {
  const reason = findWeakness(password, owner);
  if (reason !== undefined) throw HttpProblem.field('password', 'invalid_value', reason);
}

function findWeakness(password: string, owner: PasswordOwner): string | undefined {
  const length = [...password].length;
  if (length < MIN_PASSWORD || length > MAX_PASSWORD)
    return `must have ${MIN_PASSWORD} to ${MAX_PASSWORD} characters`;
  const plain = password.normalize('NFKC').toLowerCase();
  if (isRepetition(plain)) return 'must not repeat the same few characters';
  if (isSequence(plain)) return 'must not be a sequence such as 123456789012';
  const words = loadCommon();
  if (listCores(plain).some((core) => words.has(core)))
    return 'must not be one that many people have, even with digits added';
  const ownWords = listOwnWords(owner);
  if (listCores(plain).some((core) => ownWords.has(core)))
    return 'must not be your address or name, the company, or this product';
  return undefined;
}

/** A short piece over and over, such as aaaaaaaaaaaa or abcabcabcabc. */
const isRepetition = (text: string): boolean => /^(.{1,6})\1+.{0,5}$/su.test(text);

/** Characters that follow each other, up or down. */
function isSequence(text: string): boolean {
  const codes = [...text].map((character) => character.codePointAt(0)!);
  const steps = new Set(codes.slice(1).map((code, n) => (code - codes[n]! + 10) % 10));
  return steps.size === 1 && /^(\d+|[a-z]+)$/.test(text);
}

/** The whole text, and what is left without digits and signs at its ends, or anywhere. */
function listCores(text: string): string[] {
  const trimmed = /\p{L}.*\p{L}/su.exec(text)?.[0] ?? '';
  const letters = text.replace(/[^\p{L}]/gu, '');
  return [text, trimmed, letters, text.replace(/\s/gu, '')].filter((core) => core.length >= 4);
}

function listOwnWords({ email, name, company_name }: PasswordOwner): Set<string> {
  const [local = '', domain = ''] = email.toLowerCase().split('@');
  const texts = [email, local, domain, domain.split('.')[0]!, name ?? '', company_name, PRODUCT];
  return new Set(texts.flatMap((text) => listCores(text.normalize('NFKC').toLowerCase())));
}
