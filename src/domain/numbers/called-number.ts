import type { Statements } from '../../data/db';
import { CALLED_NUMBER } from './queries/numbers';

export interface CalledNumber {
  number_id: string;
  /** Null for a number that forwards to a buyer, or nowhere. */
  offer_id: string | null;
  buyer_id: string | null;
  traffic_source_id: string | null;
}

/** Undefined when the company does not own the number. */
export async function findCalledNumber(
  db: Pick<Statements, 'sql'>,
  phoneNumber: number,
): Promise<CalledNumber | undefined> {
  return (await db.sql(CALLED_NUMBER, { phone_number: phoneNumber }))[0];
}
