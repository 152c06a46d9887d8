import type { AvailableNumber, CarrierName } from '../carriers/carrier';
import { claimNumber, enterOwner, holderOf } from './queries/lookups';
import type { Db } from '../db/tenant';
import { HttpProblem } from '../errors';
import { moveCount } from '../db/counters';

/** What the owner of a number says of it. */
export interface NumberFields {
  name?: string | null;
  offer_id?: bigint | null;
  traffic_source_id?: bigint | null;
  forward_type?: 'offer_id' | 'buyer_id';
  buyer_id?: bigint | null;
  external_record_id?: string | null;
}

export interface NewNumber extends AvailableNumber, NumberFields {
  carrier: CarrierName;
  /** The carrier's own id of it, where it is known. */
  carrier_number_id: string | null;
}

/** Makes a number that the carrier has sold already the company's own. Refuses with 422 one that has an owner, or is being bought at this moment. */
export async function addNumber(db: Db, number: NewNumber, now: Date): Promise<bigint> {
  const digits = BigInt(number.phone_number.slice(1));
  if (!(await claimNumber(db, digits)))
    throw HttpProblem.field('phone_number', 'is being bought by somebody at this moment');
  if ((await holderOf(db, digits))?.number_id)
    throw HttpProblem.field('phone_number', 'belongs to somebody already');
  const id = await recordNumber(db, number, now);
  await moveCount(db, 'numbers', 1);
  return id;
}

/**
 * Writes down that a claimed number is the company's: its leads are called and texted from it, and what comes in for it is the company's. Refuses
 * with 422 one that has an owner.
 */
export async function recordNumber(
  db: Db,
  { phone_number, ...fields }: NewNumber,
  now: Date,
): Promise<bigint> {
  const number = BigInt(phone_number.slice(1));
  const data = {
    ...fields,
    phone_number: number,
    company_id: db.company_id,
    created_at: now,
    updated_at: now,
    user_updated_at: now,
  };
  const { id } = await db.prisma.number.create({ data, select: { id: true } });
  // The whole installation has each number once: what comes in for it says no more than the number.
  if (!(await enterOwner(db, number, id)))
    throw HttpProblem.field('phone_number', 'belongs to somebody already');
  return id;
}
