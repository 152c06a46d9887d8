import type { Executor } from '../db/executor';

export interface OwnNumber {
  company_id: string;
  id: string;
  number: string;
  offer_id: string | null;
  last_assigned_at: Date | null;
}

/** The numbers that companies own, by company. */
export async function loadNumbers(
  client: Executor,
  companies: readonly string[],
): Promise<Map<string, OwnNumber[]>> {
  const text = `SELECT company_id::text, id::text, phone_number::text AS number, offer_id::text, last_assigned_at FROM numbers WHERE company_id = ANY($1::bigint[]) AND deleted_at IS NULL ORDER BY numbers.id`;
  const { rows } = await client.query({
    name: 'load_numbers',
    text,
    values: [[...new Set(companies)]],
  });
  const own = new Map<string, OwnNumber[]>(
    [...new Set(companies)].map((company_id) => [company_id, []]),
  );
  for (const number of rows as OwnNumber[]) own.get(number.company_id)!.push(number);
  return own;
}
