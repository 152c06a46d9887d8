import type { CookieOptions, Request, Response } from 'express';
import type { Credentials } from './credentials';
import { formatUserToken } from './credentials';

// The cookies of the console. Their path keeps them from /api/v1, SameSite from other sites, and
// HttpOnly from scripts.

const PATH = '/console';

export interface CookieSettings {
  public_url: string;
}

/** HTTPS alone carries it, where the service is reached by HTTPS. */
const isSecure = ({ public_url }: CookieSettings): boolean => public_url.startsWith('https:');

/** A browser takes a cookie with this prefix only over HTTPS. */
const buildName = (name: string, settings: CookieSettings): string =>
  isSecure(settings) ? `__Secure-${name}` : name;

const buildOptions = (settings: CookieSettings): CookieOptions => ({
  httpOnly: true,
  secure: isSecure(settings),
  sameSite: 'strict',
  path: PATH,
});

export type CookieName = 'trunkline_session' | 'trunkline_sign_in' | 'trunkline_oidc';

/** Undefined without the cookie, or with two of its name: another host may have set one. */
export function readCookie(
  { headers }: Pick<Request, 'headers'>,
  name: CookieName,
  settings: CookieSettings,
): string | undefined {
  const prefix = `${buildName(name, settings)}=`;
  const values = (headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(prefix))
    .map((part) => part.slice(prefix.length));
  return values.length === 1 ? values[0] : undefined;
}

export function setCookie(
  res: Response,
  [name, value]: readonly [CookieName, string],
  settings: CookieSettings,
  options: Pick<CookieOptions, 'maxAge' | 'sameSite'>,
): void {
  // The values are of the alphabet of cookies; an encoded one would be read as it is.
  const encode = (text: string) => text;
  res.cookie(buildName(name, settings), value, { ...buildOptions(settings), ...options, encode });
}

export function clearCookie(res: Response, name: CookieName, settings: CookieSettings): void {
  res.clearCookie(buildName(name, settings), buildOptions(settings));
}

/** The credentials in the cookie of a session; null without one that can be read. */
export function readSessionCookie(
  req: Pick<Request, 'headers'>,
  settings: CookieSettings,
): Credentials | null {
  const value = readCookie(req, 'trunkline_session', settings) ?? '';
  const [, publicKey, secret] = /^(us_[0-9a-f]{24})_([0-9a-f]{64})$/.exec(value) ?? [];
  return publicKey && secret ? { public_key: publicKey, secret } : null;
}

export function setSessionCookie(
  res: Response,
  credentials: Credentials,
  settings: CookieSettings,
  ms: number,
): void {
  const value = formatUserToken(credentials);
  setCookie(res, ['trunkline_session', value], settings, { maxAge: ms });
}
