import type { Carrier, Failure, Found, NumberSearch } from '../carriers/carrier';
import { heldAmong } from './queries/lookups';
import type { Db } from '../db/tenant';
import { HttpProblem } from '../errors';

/** Longer than any purchase runs: one that was begun before has been cut short, and its number may be had. */
const LONGEST_PURCHASE_MS = 60_000;

/** What the carrier has for sale and nobody of the installation owns or is buying. A carrier may offer again what it has sold (the sandbox does). */
export async function findNumbers(
  db: Db,
  search: NumberSearch,
  { carrier, now }: { carrier: Carrier; now: Date },
): Promise<Found> {
  const since = new Date(now.getTime() - LONGEST_PURCHASE_MS);
  const except = new Set(search.except);
  for (;;) {
    const found = await carrier.searchNumbers({ ...search, except: [...except] });
    if (!found.ok) return found;
    const held = new Set(
      await heldAmong(
        db,
        found.numbers.map(({ phone_number }) => phone_number),
        since,
      ),
    );
    // What is found again, though it was to be left out, would be found for ever.
    if ([...held].every((number) => except.has(number)))
      return {
        ok: true,
        numbers: found.numbers.filter(({ phone_number }) => !held.has(phone_number)),
      };
    for (const number of held) except.add(number);
  }
}

const RETRY_AFTER_SECONDS = '5';

/** 503: the carrier cannot be asked now. What it did not say is in the words for people. */
export function carrierUnavailable({ message }: Failure, consequence: string): HttpProblem {
  return new HttpProblem(
    503,
    `The carrier cannot be asked now. ${consequence} ${message}`,
    {},
    { 'Retry-After': RETRY_AFTER_SECONDS },
  );
}
