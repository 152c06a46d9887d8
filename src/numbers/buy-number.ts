import type { AvailableNumber, Carrier, NumberSearch } from '../carriers/carrier';
import { numberFacts } from '../carriers/number-facts';
import { pick } from '../carriers/number-search';
import {
  claimNumber,
  giveUp,
  holderOf,
  reserve,
  unfinishedPurchases,
  type Reservation,
} from './queries/lookups';
import type { Db } from '../db/tenant';
import { uuidv7 } from '../db/uuid';
import { HttpProblem } from '../errors';
import { recordNumber, type NumberFields } from './add-number';
import { carrierUnavailable, findNumbers } from './find-numbers';
import { type Executor } from '../db/executor';

export type Wanted = Pick<NumberSearch, 'country' | 'toll_free' | 'prefix'>;

export interface Buying {
  carrier: Carrier;
  /** Another connection than the transaction's: what is written there lasts, whatever becomes of the transaction. */
  aside: Executor;
  now: Date;
}

/** Found by a search, and refused by the carrier: as many are tried before it is believed that it sells none. */
const MOST_REFUSALS = 5;
const MOST_FOUND = 100;

/**
 * Buys one number for the company. Only one in the installation can be buying it (a lock that ends with its process), and that it is about to be bought
 * lasts before the carrier is asked: who asks for it after a crash asks the carrier under the same key what became of it, rather than to sell it again.
 */
export async function buyRequested(
  db: Db,
  number: AvailableNumber,
  fields: NumberFields,
  buying: Buying,
): Promise<bigint> {
  const result = await tryToBuy(db, number, fields, buying);
  if (result.bought !== undefined) return result.bought;
  throw HttpProblem.field(
    'requested_number',
    `${result.refusal}: ${number.phone_number}; search for others`,
  );
}

/** Buys the first number that is like what is wanted; before those that the carrier offers, those that the company was buying when it was cut short. */
export async function buyAny(
  db: Db,
  wanted: Wanted,
  fields: NumberFields,
  buying: Buying,
): Promise<bigint> {
  const begun = (await unfinishedPurchases(db)).flatMap(
    (phone_number) => numberFacts(phone_number, wanted.country) ?? [],
  );
  for (const number of pick(begun, wanted)) {
    const { bought } = await tryToBuy(db, number, fields, buying);
    if (bought !== undefined) return bought;
  }
  const found = await findNumbers(db, { ...wanted, limit: MOST_FOUND }, buying);
  if (!found.ok) throw carrierUnavailable(found, 'Nothing was bought.');
  let refusals = 0;
  for (const number of found.numbers) {
    const result = await tryToBuy(db, number, fields, buying);
    if (result.bought !== undefined) return result.bought;
    if (result.asked && ++refusals === MOST_REFUSALS) break;
  }
  const { prefix, toll_free, country } = wanted;
  const like = `${toll_free ? 'a toll-free number' : 'a number'} of ${country}${prefix ? ` that begins with ${prefix}` : ''}`;
  throw HttpProblem.field(
    prefix ? 'prefix' : toll_free ? 'toll_free' : 'country',
    `must be one for which ${like} is for sale; there is none now`,
  );
}

/** A number that was bought, or why not and whether the carrier said so. */
type Result = { bought: bigint } | { bought?: undefined; refusal: string; asked: boolean };

async function tryToBuy(
  db: Db,
  number: AvailableNumber,
  fields: NumberFields,
  buying: Buying,
): Promise<Result> {
  const { carrier, aside, now } = buying;
  const phone_number = BigInt(number.phone_number.slice(1));
  const notAsked = (refusal: string): Result => ({ refusal, asked: false });
  if (!(await claimNumber(db, phone_number)))
    return notAsked('is being bought by somebody at this moment');
  const holder = await holderOf(db, phone_number);
  if (holder?.number_id)
    return notAsked(
      holder.company_id === String(db.company_id)
        ? 'is a number of yours already'
        : 'is not for sale',
    );
  const began = holder?.purchase_tried_at ?? undefined;
  const reservation: Reservation = {
    phone_number,
    key: holder?.purchase_key ?? uuidv7(now.getTime()),
    tried_at: began ?? now,
  };
  if (!holder && !(await reserve(aside, reservation, db.company_id)))
    return notAsked('is not for sale');
  const sold = await carrier.buyNumber({
    key: reservation.key,
    phone_number: number.phone_number,
    ...(began && { tried_at: began }),
  });
  if (sold.ok)
    return {
      bought: await recordNumber(
        db,
        { ...number, ...fields, carrier: carrier.name, carrier_number_id: sold.carrier_id },
        now,
      ),
    };
  if (sold.maybe_sent)
    throw carrierUnavailable(
      sold,
      `It is not known whether it has sold ${number.phone_number}: send the same again, which asks it that first.`,
    );
  await giveUp(aside, reservation);
  if (sold.retryable) throw carrierUnavailable(sold, 'Nothing was bought.');
  return {
    refusal:
      sold.code === 'not_available'
        ? 'is no longer for sale'
        : `cannot be bought (${sold.message})`,
    asked: true,
  };
}
