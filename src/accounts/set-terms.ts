import type { Schemas } from '../contract';
import type { Db } from '../db/tenant';
import { CHANGE_TERMS, LOCK_ACCOUNT } from './queries/entries';

const NAMES = ['prepaid', 'credit_limit', 'balance_low_limit'] as const;
type Terms = Pick<Schemas['BuyerFields'], (typeof NAMES)[number]>;

/**
 * Sets the terms among the fields of a buyer, in the transaction that writes the buyer. The balance
 * of a buyer that becomes prepaid is the sum of its entries.
 */
export async function setTerms(db: Db, buyer_id: bigint, fields: Terms): Promise<void> {
  const sent = NAMES.filter((name) => fields[name] !== undefined);
  if (sent.length === 0) return;
  const terms = Object.fromEntries(sent.map((name) => [name, fields[name]]));
  if (terms.credit_limit === null) terms.credit_limit = 0;
  await db.sql(LOCK_ACCOUNT, { buyer_id });
  await db.sql(CHANGE_TERMS, { buyer_id, terms: JSON.stringify(terms) });
}
