import { createHmac, randomBytes } from 'node:crypto';

/** A key pair or a user token: a public part and a secret. */
export interface Credentials {
  public_key: string;
  secret: string;
}

/** The only form in which a secret is stored. */
export const digestSecret = (pepper: string, secret: string): Buffer =>
  createHmac('sha256', pepper).update(secret).digest();

export function mintCredentials(kind: 'key_pair' | 'user_token'): Credentials {
  const prefix = kind === 'key_pair' ? 'pk' : 'ut';
  return {
    public_key: `${prefix}_${randomBytes(12).toString('hex')}`,
    secret: randomBytes(32).toString('hex'),
  };
}

export const formatUserToken = ({ public_key, secret }: Credentials): string =>
  `${public_key}_${secret}`;
