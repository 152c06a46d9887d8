import type { AvailableNumber, Carrier, NumberSearch } from '../../platform/carriers/carrier';
import { numberFacts } from '../../platform/carriers/number-facts';
import { pick } from '../../platform/carriers/number-search';
import type { Sql } from '../../data/sql';
import type { Db } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import { HttpProblem } from '../../platform/errors';
import { recordNumber, type NumberFields } from './add-number';
import { claimNumber } from './claim-number';
import { carrierUnavailable, findNumbers } from './find-numbers';
import { DELETE_RESERVATION, INSERT_RESERVATION } from './queries/number-lookups';

export type NumberCriteria = Pick<NumberSearch, 'country' | 'toll_free' | 'prefix'>;

export interface PurchaseContext {
  carrier: Carrier;
  /** A connection outside the transaction: its writes remain when the transaction fails. */
  outside: Sql;
  now: Date;
}

/** Numbers that the carrier may decline to sell before the purchase fails. */
const MAX_DECLINED = 5;
const MAX_FOUND = 100;

/**
 * Buys one number for the company and returns its id.
 *
 * An advisory lock, which ends with the process, lets only one process of the installation buy a
 * number. The reservation is committed before the carrier is asked. After a crash, the next request
 * for the number asks the carrier, with the same key, for the outcome of the purchase instead of
 * buying it twice.
 */
export async function buyRequested(
  db: Db,
  number: AvailableNumber,
  fields: NumberFields,
  buying: PurchaseContext,
): Promise<bigint> {
  const purchase = await tryToBuy(db, number, fields, buying);
  if (purchase.id !== undefined) return purchase.id;
  throw HttpProblem.field(
    'requested_number',
    'number_unavailable',
    `${purchase.problem}: ${number.phone_number}; search for others`,
  );
}

/**
 * Buys the first number that matches and returns its id. Numbers whose purchase by this company was
 * interrupted come before those that the carrier offers.
 */
export async function buyAny(
  db: Db,
  criteria: NumberCriteria,
  fields: NumberFields,
  buying: PurchaseContext,
): Promise<bigint> {
  const unfinished = await db.prisma.numberLookup.findMany({
    where: { company_id: db.company_id, number_id: null },
    orderBy: [{ purchase_tried_at: 'asc' }, { phone_number: 'asc' }],
    take: MAX_FOUND,
  });
  const interrupted = unfinished.flatMap(
    ({ phone_number }) => numberFacts(`+${phone_number}`, criteria.country) ?? [],
  );
  for (const number of pick(interrupted, criteria)) {
    const { id } = await tryToBuy(db, number, fields, buying);
    if (id !== undefined) return id;
  }
  const result = await findNumbers(db, { ...criteria, limit: MAX_FOUND }, buying);
  if (!result.ok) throw carrierUnavailable(result, 'Nothing was bought.');
  let declined = 0;
  for (const number of result.numbers) {
    const purchase = await tryToBuy(db, number, fields, buying);
    if (purchase.id !== undefined) return purchase.id;
    if (purchase.was_declined && ++declined === MAX_DECLINED) break;
  }
  throw noneForSale(criteria);
}

function noneForSale({ prefix, toll_free, country }: NumberCriteria): HttpProblem {
  const kind = toll_free ? 'a toll-free number' : 'a number';
  const description = `${kind} of ${country}${prefix ? ` that begins with ${prefix}` : ''}`;
  const fieldOfKind = toll_free ? 'toll_free' : 'country';
  return HttpProblem.field(
    prefix ? 'prefix' : fieldOfKind,
    'number_unavailable',
    `must be one for which ${description} is for sale; there is none now`,
  );
}

type Purchase =
  | { /** Id of the number. */ id: bigint }
  | { id?: undefined; problem: string; /** By the carrier. */ was_declined: boolean };

const toFailedPurchase = (problem: string): Purchase => ({ problem, was_declined: false });

async function tryToBuy(
  db: Db,
  number: AvailableNumber,
  fields: NumberFields,
  { carrier, outside, now }: PurchaseContext,
): Promise<Purchase> {
  const phoneNumber = BigInt(number.phone_number.slice(1));
  if (!(await claimNumber(db, phoneNumber)))
    return toFailedPurchase('is being bought at this moment');
  if (!(await db.keys.claim('number', String(phoneNumber))))
    return toFailedPurchase('is not for sale');
  const holder = await db.prisma.numberLookup.findUnique({ where: { phone_number: phoneNumber } });
  if (holder?.number_id) {
    const isOwn = holder.company_id === db.company_id;
    return toFailedPurchase(isOwn ? 'is already a number of yours' : 'is not for sale');
  }
  const key = holder?.purchase_key ?? uuidv7(now.getTime());
  const triedAt = holder?.purchase_tried_at ?? undefined;
  if (!holder) {
    const { company_id } = db;
    const reservation = { phone_number: phoneNumber, company_id, key, tried_at: now };
    const reserved = await outside(INSERT_RESERVATION, reservation);
    if (reserved.length === 0) return toFailedPurchase('is not for sale');
  }
  const sold = await carrier.buyNumber({
    key,
    phone_number: number.phone_number,
    ...(triedAt && { tried_at: triedAt }),
  });
  if (sold.ok) {
    const bought = { ...number, ...fields, carrier: carrier.name };
    return { id: await recordNumber(db, { ...bought, carrier_number_id: sold.carrier_id }, now) };
  }
  if (sold.maybe_sent)
    throw carrierUnavailable(
      sold,
      `It is not known whether it has sold ${number.phone_number}: ` +
        'send the same request again, which asks the carrier about that first.',
    );
  await outside(DELETE_RESERVATION, { phone_number: phoneNumber, key });
  await db.keys.release('number', String(phoneNumber));
  if (sold.retryable || sold.code === 'not_supported')
    throw carrierUnavailable(sold, 'Nothing was bought.');
  const problem =
    sold.code === 'not_available' ? 'is no longer for sale' : `cannot be bought (${sold.message})`;
  return { problem, was_declined: true };
}
