import {
  getCountryCallingCode as callingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';

// Decides if a company calls and texts a number. Anyone can submit one to a public form: without
// limits, the company would pay for calls to premium rates and satellites.

/** The countries and numbers that a company calls and texts. */
export interface ContactPolicy {
  /** Two letters: of the company. */
  country: string;
  /** Two letters each; null for the company's own alone. */
  contact_countries: readonly string[] | null;
  /** First digits of numbers that may be contacted in any case. */
  contact_prefixes: readonly string[];
}

/**
 * Numbers that cost extra, whatever their table says: in North America 900, the exchange 976, and
 * the area codes of carriers (456, 700, 880 to 882); elsewhere universal personal numbers,
 * satellites, networks of several countries, and 979.
 */
const COSTLY = /^(?:1(?:456|700|88[0-2]|900)|1\d{3}976|87[08]|88[123]|979)/;

/** Personal and shared-cost numbers can lead anywhere, at a price that benefits their owner. */
const COSTLY_TYPES: ReadonlyMap<string | undefined, string> = new Map([
  ['PREMIUM_RATE', 'is at a premium rate'],
  ['PERSONAL_NUMBER', 'is at a premium rate'],
  ['SHARED_COST', 'is at a shared-cost rate'],
]);

/** Facts about a number; `country` is undefined where it cannot be determined. */
interface Place {
  country: string | undefined;
  calling_code: string;
  /** Why it costs extra; undefined where it does not. */
  surcharge: string | undefined;
}

/** Why a number (E.164 digits) must not be called or texted; undefined when it may be. */
export function contactRefusal(
  number: number | string,
  { country, contact_countries, contact_prefixes }: ContactPolicy,
): string | undefined {
  const digits = String(number);
  if (contact_prefixes.some((prefix) => digits.startsWith(prefix))) return undefined;
  if (COSTLY.test(digits)) return 'is of a satellite, or at a premium rate';
  const allowed = contact_countries ?? [country];
  const place = placeOf(digits);
  if (place?.surcharge) return place.surcharge;
  if (place && isAmong(allowed, place)) return undefined;
  return place?.country
    ? `is in the country ${place.country}, where the company contacts nobody`
    : 'is in no country where the company contacts people';
}

/** A number of an undetermined country counts for every country with its calling code. */
const isAmong = (allowed: readonly string[], { country, calling_code }: Place): boolean =>
  country === undefined
    ? allowed.some((each) => isSupportedCountry(each) && callingCode(each) === calling_code)
    : allowed.includes(country);

const MAX_KNOWN = 10_000;
const known = new Map<string, Place | undefined>();

/** In North America the area code decides, so most numbers share a few look-ups. */
function placeOf(digits: string): Place | undefined {
  const is_north_american = digits.length === 11 && digits.startsWith('1');
  const sample = is_north_american ? `${digits.slice(0, 4)}5550123` : digits;
  if (known.has(sample)) return known.get(sample);
  if (known.size >= MAX_KNOWN) known.clear();
  const place = lookUp(sample);
  known.set(sample, place);
  return place;
}

function lookUp(digits: string): Place | undefined {
  const found = parsePhoneNumberFromString(`+${digits}`);
  return (
    found && {
      country: found.country,
      calling_code: found.countryCallingCode,
      surcharge: COSTLY_TYPES.get(found.getType()),
    }
  );
}
