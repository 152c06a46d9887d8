import type { Account } from './find-account';

/** Alias of the join that sums up the account of the row t. */
export const ACCOUNT_SUMS = 'sums';

/**
 * A join with what calls have changed the account by, corrections included, and what was paid. An
 * index includes what it reads, and yet it reads each entry of the account.
 */
export const sumAccount = (owner: keyof Account): string => `LEFT JOIN LATERAL (
    SELECT
      coalesce(sum(e.amount) FILTER (WHERE e.kind NOT IN ('deposit', 'payment')), 0) AS calls,
      coalesce(sum(e.amount) FILTER (WHERE e.kind IN ('deposit', 'payment')), 0) AS paid
    FROM account_entries e
    WHERE e.company_id = t.company_id AND e.${owner} = t.id
  ) ${ACCOUNT_SUMS} ON true`;
