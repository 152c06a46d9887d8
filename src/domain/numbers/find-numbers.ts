import type {
  Carrier,
  Failure,
  NumbersResult,
  NumberSearch,
} from '../../platform/carriers/carrier';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { HELD_NUMBERS } from './queries/number-lookups';

/** Longer than a purchase takes: an older one was interrupted, and its number is free. */
const MAX_PURCHASE_MS = 60_000;

/** Each search is a request to the carrier while a caller waits. */
const MAX_SEARCHES = 100;

/**
 * Numbers that the carrier sells and that no company of the installation owns or is buying. A
 * carrier may offer a number that it has sold (the sandbox does).
 */
export async function findNumbers(
  db: Db,
  search: NumberSearch,
  { carrier, now }: { carrier: Carrier; now: Date },
): Promise<NumbersResult> {
  const since = new Date(now.getTime() - MAX_PURCHASE_MS);
  const except = new Set(search.except);
  for (let searches = 1; ; searches++) {
    const result = await carrier.searchNumbers({ ...search, except: [...except] });
    if (!result.ok) return result;
    const phoneNumbers = result.numbers.map(({ phone_number }) => phone_number.slice(1));
    const rows = await db.sql(HELD_NUMBERS, { phone_numbers: phoneNumbers, since });
    const held = new Set(rows.map(({ phone_number }) => phone_number));
    // A carrier that ignores `except` returns the same numbers forever; another may return the held
    // numbers one by one.
    if (searches === MAX_SEARCHES || [...held].every((number) => except.has(number)))
      return {
        ok: true,
        numbers: result.numbers.filter(({ phone_number }) => !held.has(phone_number)),
      };
    for (const number of held) except.add(number);
  }
}

const RETRY_AFTER_SECONDS = '5';

/**
 * 503, or 409 for what the carrier can never be asked for. `consequence` states which action was
 * not done.
 */
export function carrierUnavailable({ code, message }: Failure, consequence: string): HttpProblem {
  if (code === 'not_supported')
    return new HttpProblem('carrier_refused', `${consequence} ${message}`);
  return new HttpProblem(
    'carrier_unavailable',
    `The carrier cannot be asked now. ${consequence} ${message}`,
    { headers: { 'Retry-After': RETRY_AFTER_SECONDS } },
  );
}
