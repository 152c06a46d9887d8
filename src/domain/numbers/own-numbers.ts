import type { Sql } from '../../data/sql';
import { NUMBERS_OF_COMPANIES } from './queries/numbers';

export interface OwnNumber {
  company_id: string;
  id: string;
  /** E.164 digits. */
  number: string;
  offer_id: string | null;
  last_assigned_at: Date | null;
}

/** By company, in the order of ids. */
export async function loadNumbers(
  sql: Sql,
  companies: readonly string[],
): Promise<Map<string, OwnNumber[]>> {
  const companyIds = [...new Set(companies)];
  const numbers = new Map<string, OwnNumber[]>(companyIds.map((id) => [id, []]));
  for (const number of await sql(NUMBERS_OF_COMPANIES, { company_ids: companyIds }))
    numbers.get(number.company_id)!.push(number);
  return numbers;
}
