import type { CarrierName } from '../carriers/carrier';
import { moveCount } from '../db/records';
import type { Db } from '../db/tenant';
import { Refusal } from '../refusal';

export interface NewNumber {
  /** + and digits. */
  phone_number: string;
  /** Two letters. */
  country: string;
  toll_free: boolean;
  carrier: CarrierName;
  /** The carrier's own id of it, where it is known. */
  carrier_number_id: string | null;
  offer_id?: bigint | null;
}

/** Makes a number the company's own: its leads are called and texted from it, and what comes in for it is the company's. Refuses with 422 one that has an owner. */
export async function addNumber(db: Db, { phone_number, ...fields }: NewNumber, now: Date): Promise<bigint> {
  const number = BigInt(phone_number.slice(1));
  const data = { ...fields, phone_number: number, company_id: db.company_id, created_at: now, updated_at: now, user_updated_at: now };
  const { id } = await db.prisma.number.create({ data, select: { id: true } });
  // The whole installation has each number once: what comes in for it says no more than the number.
  const taken = await db.query({
    text: 'INSERT INTO number_lookups (phone_number, company_id, number_id) VALUES ($1::bigint, $2::bigint, $3::bigint) ON CONFLICT DO NOTHING RETURNING number_id',
    values: [number, db.company_id, id],
  });
  if (taken.length === 0) throw Refusal.field('phone_number', 'belongs to somebody already');
  await moveCount(db, 'numbers', 1);
  return id;
}
