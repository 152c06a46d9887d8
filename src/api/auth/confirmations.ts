import type { Request } from 'express';
import type { Directory } from '../../data/directory';
import { FIND_OPEN_CONFIRMATION } from './queries/confirmations';
import { anonymousCaller } from './caller';
import type { FailedAttempts } from './failed-attempts';
import { readField } from './fields';
import { linkToken, readLinkToken } from './link-tokens';
import type { Scheme } from './scheme';
import type { Confirmation } from './scheme';

export const CONFIRMATION_DAYS = 7;

const KIND = { prefix: 'conf', label: 'confirmation' };

export const confirmationToken = (confirmation: Confirmation, pepper: string): string =>
  linkToken(KIND, confirmation, pepper);

export interface ConfirmationOptions {
  directory: Directory;
  pepper: string;
  clock: () => Date;
}

/** Authenticates by the token of an open confirmation, `confirmation_token` in the query. */
export function confirmationScheme(options: ConfirmationOptions, failures: FailedAttempts): Scheme {
  return {
    authenticate: async (req: Request) => {
      const token = readField(req.query, 'confirmation_token');
      const confirmation =
        typeof token === 'string' ? await findConfirmation(token, options) : undefined;
      if (!confirmation) throw await failures.problemFor(req, token !== undefined);
      return { caller: anonymousCaller(confirmation.company_id), owner: undefined, confirmation };
    },
  };
}

/** Undefined for a wrong or used token. */
async function findConfirmation(
  token: string,
  { directory, pepper, clock }: ConfirmationOptions,
): Promise<Confirmation | undefined> {
  const confirmation = readLinkToken(KIND, token, pepper);
  if (!confirmation) return undefined;
  const sql = await directory.findCompanyDatabase(confirmation.company_id);
  const open = await sql?.(FIND_OPEN_CONFIRMATION, {
    ...confirmation,
    now: clock(),
    valid_days: CONFIRMATION_DAYS,
  });
  return open?.length ? confirmation : undefined;
}
