import { TOTP } from 'otpauth';

/** The code that an app shows for a secret, at a time. */
export const showCode = (secret: string, at: Date): string =>
  new TOTP({ secret }).generate({ timestamp: at.getTime() });
