import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { confirmAddress } from './confirm-addresses';

/** Confirmation of addresses for the mails of a company; mounted with users. */
export const emailAddresses = ({ clock }: Deps) =>
  ({
    confirmEmailAddress: async ({ db, confirmation }) => {
      const { email, company, confirmed_at } = await confirmAddress(db, confirmation!, clock());
      return {
        status: 200,
        success: true as const,
        errors: {},
        email_address: { email, company, confirmed_at: confirmed_at.toISOString() },
        metadata: { root: 'email_address' },
      };
    },
  }) satisfies Partial<Handlers>;
