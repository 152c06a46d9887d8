import type { Statements } from '../db/tenant';
import { CALLED_NUMBER } from './queries/numbers';

/** A number of the company and where calls to it go. */
export interface CalledNumber {
  number_id: string;
  /** Null for a number that forwards to a buyer, or nowhere. */
  offer_id: string | null;
  /** The buyer that the number forwards to. */
  buyer_id: string | null;
  traffic_source_id: string | null;
}

/** Where calls to a number go; undefined when the company does not own it. */
export async function calledNumber(
  db: Pick<Statements, 'sql'>,
  phone_number: number,
): Promise<CalledNumber | undefined> {
  return (await db.sql(CALLED_NUMBER, { phone_number }))[0];
}
