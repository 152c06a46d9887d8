import type { AvailableNumber, CarrierName } from '../../platform/carriers/carrier';
import { moveCount } from '../../data/counts/counters';
import type { Db } from '../../data/db';
import { createdAt } from '../../data/timestamps';
import { HttpProblem } from '../../platform/errors';
import { claimNumber } from './claim-number';
import { UPSERT_OWNER } from './queries/number-lookups';

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
  /** The carrier's id of the number; null when it is not known. */
  carrier_number_id: string | null;
}

/** Like `addNumber`; also counts the number. */
export async function addCountedNumber(db: Db, number: NewNumber, now: Date): Promise<bigint> {
  const id = await addNumber(db, number, now);
  await moveCount(db, 'numbers', 1);
  return id;
}

/**
 * Adds a number that the company already has at the carrier, and returns its id; the caller counts
 * it. Throws 422 when the number has an owner or a purchase of it is in progress.
 */
export async function addNumber(
  db: Db,
  number: NewNumber,
  now: Date,
  field = 'phone_number',
): Promise<bigint> {
  const phoneNumber = BigInt(number.phone_number.slice(1));
  if (!(await claimNumber(db, phoneNumber)))
    throw HttpProblem.field(field, 'number_unavailable', 'is being bought at this moment');
  const isOurs = await db.keys.claim('number', String(phoneNumber));
  const holder = await db.prisma.numberLookup.findUnique({ where: { phone_number: phoneNumber } });
  if (!isOurs || holder?.number_id)
    throw HttpProblem.field(field, 'taken', 'already belongs to a company');
  return recordNumber(db, number, now);
}

/**
 * Stores a claimed number as the company's, and returns its id. Throws 422 when it has an owner.
 */
export async function recordNumber(
  db: Db,
  { phone_number, ...fields }: NewNumber,
  now: Date,
): Promise<bigint> {
  const number = BigInt(phone_number.slice(1));
  const data = { ...fields, phone_number: number, company_id: db.company_id, ...createdAt(now) };
  const { id } = await db.prisma.number.create({ data, select: { id: true } });
  // A number is unique in the installation: a carrier identifies a call by the called number alone.
  const owned = await db.sql(UPSERT_OWNER, { phone_number: number, number_id: id });
  if (owned.length === 0)
    throw HttpProblem.field('phone_number', 'taken', 'already belongs to a company');
  return id;
}
