import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { AvailableNumber } from './carrier';

/**
 * Countries whose numbers are sold, by calling code. A number whose country is not known gets the
 * first.
 */
const SOLD: Record<string, readonly [string, ...string[]]> = {
  '1': ['US', 'CA'],
  '44': ['GB'],
  '61': ['AU'],
};

/**
 * The country and kind of a telephone number (+ and digits). North American toll-free numbers
 * belong to no single country: they get the requested `country`. Undefined for numbers of countries
 * that are not sold, and for another calling code than that of `country`.
 */
export function numberFacts(phone_number: string, asked?: string): AvailableNumber | undefined {
  const parsed = parsePhoneNumberFromString(phone_number);
  const countries = SOLD[parsed?.countryCallingCode ?? ''];
  if (!parsed || !countries || (asked !== undefined && !countries.includes(asked)))
    return undefined;
  const toll_free = parsed.getType() === 'TOLL_FREE';
  const own = toll_free ? (asked ?? parsed.country) : (parsed.country ?? asked);
  // Some islands share the numbering plan of Great Britain or of North America.
  if (own !== undefined && !countries.includes(own) && countries.length > 1) return undefined;
  return {
    phone_number,
    country: own !== undefined && countries.includes(own) ? own : countries[0],
    toll_free,
  };
}
