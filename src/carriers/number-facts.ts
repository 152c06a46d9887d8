import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { AvailableNumber } from './carrier';

/** Countries whose numbers are sold, by calling code; the first is the one of numbers that no country of the code can be told of. */
const SOLD: Record<string, readonly [string, ...string[]]> = {
  '1': ['US', 'CA'],
  '44': ['GB'],
  '61': ['AU'],
};

/**
 * What a telephone number (+ and digits) says of itself. Toll-free numbers of North America are of no one country: `asked` decides then.
 * Undefined for a number of a country whose numbers are not sold, or of another calling code than that of the country asked for.
 */
export function numberFacts(phone_number: string, asked?: string): AvailableNumber | undefined {
  const parsed = parsePhoneNumberFromString(phone_number);
  const countries = SOLD[parsed?.countryCallingCode ?? ''];
  if (!parsed || !countries || (asked !== undefined && !countries.includes(asked)))
    return undefined;
  const toll_free = parsed.getType() === 'TOLL_FREE';
  const own = toll_free ? (asked ?? parsed.country) : (parsed.country ?? asked);
  // The small islands share the plan of Great Britain, others that of America.
  if (own !== undefined && !countries.includes(own) && countries.length > 1) return undefined;
  return {
    phone_number,
    country: own !== undefined && countries.includes(own) ? own : countries[0],
    toll_free,
  };
}
