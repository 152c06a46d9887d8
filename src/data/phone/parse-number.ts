import {
  getCountryCallingCode,
  isSupportedCountry,
  isValidPhoneNumber,
  parsePhoneNumberFromString,
  type CountryCode,
} from 'libphonenumber-js/max';
import { cleanNumberText, holdsSeveral, parseNumbers } from './number-text';

/** E.164 digits without the plus: at most 15, so that a number is exact. */
export interface NumberReader {
  /** Reads a telephone number in any spelling; undefined for what is not one possible number. */
  (text: string): number | undefined;
  /** Reads also a text that holds several; undefined if any of it is not a possible number. */
  several: (text: string) => number | readonly number[] | undefined;
}

/** Punctuation between digits that the fast path accepts. */
const PUNCTUATION = new Set([...' -.()'].map((char) => char.charCodeAt(0)));
const [ZERO, NINE, PLUS, POINT] = ['0', '9', '+', '.'].map((char) => char.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
];
const NORTH_AMERICA = 10_000_000_000;
const MAX_LENGTH = 40;
const MAX_TEXT_LENGTH = 2_000;
/** A row of the FTC's files. */
export const AREA_AND_NUMBER = /^\(?([2-9]\d{2})\)? ?[,;|\t] ?([2-9]\d{2}[ .-]?\d{4})$/;
/** No number begins so but where this is dialed before a country code. */
const DIALED_ABROAD = /^00[1-9][\d .()-]*$/;
/** More would be a second number. */
const MAX_EXTENSION_LENGTH = 6;

/** A reader of numbers; those without country code are of `country` (two letters). */
export function numberReader(country: string): NumberReader {
  const supportedCountry = isSupportedCountry(country) ? country : undefined;
  const atHome = supportedCountry !== undefined && getCountryCallingCode(supportedCountry) === '1';
  const parse = (text: string) =>
    parseNorthAmerican(text, atHome) ?? parseAnyNumber(text, supportedCountry);
  const several = (raw: string) => {
    // Spreadsheets write an apostrophe before text that must not become a formula.
    const simple = parseNorthAmerican(raw.startsWith("'") ? raw.slice(1) : raw, atHome);
    if (simple !== undefined) return simple;
    if (raw.length > MAX_TEXT_LENGTH || hasFewDigits(raw, atHome)) return undefined;
    const text = cleanNumberText(raw);
    const plain = atHome ? text.replace(AREA_AND_NUMBER, '$1$2') : text;
    const numbers = parseNumbers(plain, parse);
    if (numbers.length > 1) return numbers;
    return numbers[0] ?? (DIALED_ABROAD.test(text) ? parse(`+${text.slice(2)}`) : undefined);
  };
  const read = (text: string) => {
    const numbers = several(text);
    return typeof numbers === 'number' ? numbers : undefined;
  };
  return Object.assign(read, { several });
}

const readInternational = numberReader('US');

/** Reads a number of ours as carriers write it: they may leave the plus out. */
export function parseOwnNumber(text: string): number | undefined {
  const plain = cleanNumberText(text);
  if (!/^\+?[\d .()-]+$/.test(plain)) return undefined;
  const digits = plain.replace(/\D/g, '').replace(/^00/, '');
  const national = digits.length === 10 && !plain.startsWith('+');
  return /^\d{6,15}$/.test(digits) ? Number(national ? `1${digits}` : digits) : undefined;
}

/** A reader of numbers with their country code, which are the same everywhere; else undefined. */
export const internationalReader = (text: string): NumberReader | undefined =>
  text.trim().startsWith('+') ? readInternational : undefined;

/**
 * Reads a North American number in one of its usual spellings, exactly as the library does but
 * fifty times faster, which matters for files of millions. Undefined for any other text.
 * (tests/data/phone/number-reader.test.ts compares the two.)
 */
function parseNorthAmerican(text: string, atHome: boolean): number | undefined {
  if (text.length < 10 || text.length > MAX_LENGTH) return undefined;
  const plus = text.charCodeAt(0) === PLUS;
  if (!plus && !atHome) return undefined;
  // 305555010.0 is a float, and not ten digits.
  if (text.charCodeAt(text.length - 2) === POINT || text.charCodeAt(text.length - 3) === POINT)
    return undefined;
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
  if (number?.ext && number.ext.length > MAX_EXTENSION_LENGTH) return undefined;
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
  if (cell.trim() === '') return 'is empty';
  return holdsSeveral(cell) ? 'holds more than one number' : 'is not a possible telephone number';
}
