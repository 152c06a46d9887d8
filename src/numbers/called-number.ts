import type { Statements } from '../db/tenant';

/** A number of the company, as the calls to it go by it. */
export interface CalledNumber {
  number_id: string;
  /** Null of a number that forwards to a buyer, or leads nowhere. */
  offer_id: string | null;
  /** Whom it forwards to. */
  buyer_id: string | null;
  traffic_source_id: string | null;
}

/** What a number that was called leads to; undefined when it is none of the company's. */
export async function calledNumber(
  db: Statements,
  phone_number: number,
): Promise<CalledNumber | undefined> {
  const [number] = await db.query<CalledNumber>({
    name: 'own_number_called',
    text: `SELECT id::text AS number_id, CASE WHEN forward_type = 'offer_id' THEN offer_id::text END AS offer_id, CASE WHEN forward_type = 'buyer_id' THEN buyer_id::text END AS buyer_id,
        traffic_source_id::text FROM numbers WHERE company_id = $1 AND phone_number = $2::bigint AND deleted_at IS NULL`,
    values: [db.company_id, phone_number],
  });
  return number;
}
