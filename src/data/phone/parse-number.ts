import {
  getCountryCallingCode,
  isSupportedCountry,
  isValidPhoneNumber,
  parsePhoneNumberFromString,
  type CountryCode,
} from 'libphonenumber-js/max';

/**
 * Reads a telephone number in any spelling. Returns its E.164 digits without the plus (at most 15,
 * so a number is exact); undefined for what is not a possible number.
 */
export type NumberReader = (text: string) => number | undefined;

/** Punctuation between digits that the fast path accepts. */
const PUNCTUATION = new Set([...' -.()'].map((char) => char.charCodeAt(0)));
const [ZERO, NINE, PLUS] = ['0', '9', '+'].map((char) => char.charCodeAt(0)) as [
  number,
  number,
  number,
];
const NORTH_AMERICA = 10_000_000_000;
const MAX_LENGTH = 40;

/** A reader of numbers; those without country code are of `country` (two letters). */
export function numberReader(country: string): NumberReader {
  const supportedCountry = isSupportedCountry(country) ? country : undefined;
  const atHome = supportedCountry !== undefined && getCountryCallingCode(supportedCountry) === '1';
  return (raw) => {
    // Spreadsheets write an apostrophe before text that must not become a formula.
    const text = raw.trim().replace(/^'/, '');
    if (hasFewDigits(text, atHome)) return undefined;
    return parseNorthAmerican(text, atHome) ?? parseAnyNumber(text, supportedCountry);
  };
}

const readInternational = numberReader('US');

/** A reader of numbers with their country code, which are the same everywhere; else undefined. */
export const internationalReader = (text: string): NumberReader | undefined =>
  text.trim().startsWith('+') ? readInternational : undefined;

/**
 * Reads a North American number in one of its usual spellings, exactly as the library does but
 * fifty times faster, which matters for files of millions. Undefined for any other text.
 * (tests/domain/suppression/csv/reader.test.ts compares the two.)
 */
function parseNorthAmerican(text: string, atHome: boolean): number | undefined {
  if (text.length < 10 || text.length > MAX_LENGTH) return undefined;
  const plus = text.charCodeAt(0) === PLUS;
  if (!plus && !atHome) return undefined;
  let [value, digits] = [0, 0];
  for (let i = plus ? 1 : 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= ZERO && code <= NINE) {
      value = value * 10 + code - ZERO;
      digits++;
    } else if (!PUNCTUATION.has(code) || (plus && i === 1)) return undefined;
  }
  const national = toNational(value, digits, plus);
  // Area code and exchange begin with 2 to 9.
  if (
    national < 2_000_000_000 ||
    national >= NORTH_AMERICA ||
    Math.floor(national / 1_000_000) % 10 < 2
  )
    return undefined;
  return NORTH_AMERICA + national;
}

/** Digits of the shortest numbers: of North America without an area code, and of any country. */
const [SHORTEST_AT_HOME, SHORTEST] = [7, 4];

/** The text has too few digits for a number: the library would take as long for it as for one. */
function hasFewDigits(text: string, atHome: boolean): boolean {
  if (text.length > MAX_LENGTH) return false;
  const enough = atHome && text.charCodeAt(0) !== PLUS ? SHORTEST_AT_HOME : SHORTEST;
  let digits = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // There are digits beyond ASCII too.
    if (code > 127 || (code >= ZERO && code <= NINE && ++digits >= enough)) return false;
  }
  return true;
}

/** The ten digits after the country code; 0 for any other count of digits. */
function toNational(value: number, digits: number, plus: boolean): number {
  if (digits === 11) return value - NORTH_AMERICA;
  return digits === 10 && !plus ? value : 0;
}

function parseAnyNumber(text: string, country: CountryCode | undefined): number | undefined {
  if (text.length > 250) return undefined;
  const number = parsePhoneNumberFromString(text, {
    ...(country && { defaultCountry: country }),
    extract: false,
  });
  return number?.isPossible() ? Number(number.number.slice(1)) : undefined;
}

/**
 * Numbers for films and documents, which are never assigned: of North America 555-0100 to 555-0199
 * in every area, of the United Kingdom those that Ofcom reserves for drama.
 */
const FICTION = /^(?:1[2-9]\d{2}55501\d{2}|44(?:7700900|2079460|1632960)\d{3})$/;

/** True for a number (E.164 digits) that the numbering plan of its country can assign. */
export const isAssignable = (number: number): boolean =>
  FICTION.test(String(number)) || isValidPhoneNumber(`+${number}`);

export const NOT_ASSIGNABLE = 'is no number that its country assigns';

/** Why a text is not a telephone number. `misquoted`: the CSV cell has a stray quote. */
export function reasonFor(cell: string, misquoted = false): string {
  if (misquoted) return 'has a quote in the wrong place';
  return cell.trim() === '' ? 'is empty' : 'is not a possible telephone number';
}
