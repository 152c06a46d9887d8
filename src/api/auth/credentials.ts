import { createHmac, randomBytes } from 'node:crypto';

/** A key pair, a user token or a session: a public part and a secret. */
export interface Credentials {
  public_key: string;
  secret: string;
}

/** The only form in which a secret is stored. */
export const digestSecret = (pepper: string, secret: string): Buffer =>
  createHmac('sha256', pepper).update(secret).digest();

/**
 * Key pairs and user tokens work in a header; a session only in the cookie of the console, and
 * nothing else does there.
 */
export type CredentialsKind = 'key_pair' | 'user_token' | 'session';

const PREFIXES: Record<CredentialsKind, string> = {
  key_pair: 'pk',
  user_token: 'ut',
  session: 'us',
};

export function mintCredentials(kind: CredentialsKind): Credentials {
  return {
    public_key: `${PREFIXES[kind]}_${randomBytes(12).toString('hex')}`,
    secret: randomBytes(32).toString('hex'),
  };
}

/** A user token or the cookie of a session, as it is shown once. */
export const formatUserToken = ({ public_key, secret }: Credentials): string =>
  `${public_key}_${secret}`;
