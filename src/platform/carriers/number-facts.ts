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

/** The facts of a number that a company has already, of any country. */
export function ownNumberFacts(phoneNumber: string): AvailableNumber {
  const parsed = parsePhoneNumberFromString(phoneNumber);
  return {
    phone_number: phoneNumber,
    country: parsed?.country ?? 'US',
    toll_free: parsed?.getType() === 'TOLL_FREE',
    ...numberFacts(phoneNumber),
  };
}

/**
 * The country and kind of a telephone number (+ and digits). North American toll-free numbers
 * belong to no single country: they get the requested `country`. Undefined for numbers of countries
 * that are not sold, and for another calling code than that of `country`.
 */
export function numberFacts(phoneNumber: string, country?: string): AvailableNumber | undefined {
  const parsed = parsePhoneNumberFromString(phoneNumber);
  const countries = SOLD[parsed?.countryCallingCode ?? ''];
  if (!parsed || !countries || (country !== undefined && !countries.includes(country)))
    return undefined;
  const tollFree = parsed.getType() === 'TOLL_FREE';
  const ownCountry = tollFree ? (country ?? parsed.country) : (parsed.country ?? country);
  // Some islands share the numbering plan of Great Britain or of North America.
  if (ownCountry !== undefined && !countries.includes(ownCountry) && countries.length > 1)
    return undefined;
  return {
    phone_number: phoneNumber,
    country: ownCountry !== undefined && countries.includes(ownCountry) ? ownCountry : countries[0],
    toll_free: tollFree,
  };
}
