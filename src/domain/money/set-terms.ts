import type { Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import { CHANGE_TERMS, LOCK_ACCOUNT } from './queries/entries';

const NAMES = ['prepaid', 'credit_limit', 'balance_low_limit'] as const;
type Terms = Pick<Schemas['BuyerFields'], (typeof NAMES)[number]>;

/**
 * Sets the terms among the fields of a buyer, in the transaction that writes the buyer. The balance
 * of a buyer that becomes prepaid is the sum of its entries.
 */
export async function setTerms(db: Db, buyerId: bigint, fields: Terms): Promise<void> {
  const termNames = NAMES.filter((name) => fields[name] !== undefined);
  if (termNames.length === 0) return;
  const terms = Object.fromEntries(termNames.map((name) => [name, fields[name]]));
  if (terms.credit_limit === null) terms.credit_limit = 0;
  await db.sql(LOCK_ACCOUNT, { buyer_id: buyerId });
  await db.sql(CHANGE_TERMS, { buyer_id: buyerId, terms: JSON.stringify(terms) });
}
