import type { Request } from 'express';
import type { Credentials } from './credentials';
import { readField, takeField } from './fields';

/** A user token is its public part, an underscore and its secret. */
function parse(token: string): Credentials | null {
  const [, publicKey, secret] = /^(ut_[0-9a-f]{24})_([0-9a-f]{64})$/.exec(token.trim()) ?? [];
  return publicKey && secret ? { public_key: publicKey, secret } : null;
}

/**
 * The user token of `Authorization: Token <token>`, `Token token=<token>` or `Bearer <token>`:
 * undefined for another scheme, null if it cannot be read.
 */
export function headerToken(authorization: string): Credentials | null | undefined {
  const [, rest] = /^(?:token|bearer)\s+(\S.*)$/i.exec(authorization) ?? [];
  return rest === undefined
    ? undefined
    : parse(rest.replace(/^token=/, '').replace(/^"(.*)"$/, '$1'));
}

/**
 * The user token of `auth_token` in the query or the body; it is removed from the body. A blank one
 * is none: some SDKs send every credential that the contract knows.
 */
export function parameterToken(req: Request): Credentials | null | undefined {
  const inBody = takeField(req.body, 'auth_token');
  return credentialsIn(readField(req.query, 'auth_token') ?? inBody);
}

/** Like `parameterToken`, before the body is read. */
export const queryToken = (req: Request): Credentials | null | undefined =>
  credentialsIn(readField(req.query, 'auth_token'));

function credentialsIn(token: unknown): Credentials | null | undefined {
  if (token === undefined || token === '') return undefined;
  return typeof token === 'string' ? parse(token) : null;
}
