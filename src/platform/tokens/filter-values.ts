import { stateCode } from './states';

// Comparison of values in filters: numbers as people write them, and texts with equal meanings.

/** Plain, with an exponent, or with $ and commas between thousands: -1.5, 1e6, $1,000.50. */
const NUMBER =
  /^(?<sign>[+-]?)(?<dollar>\$?)(?<sign2>[+-]?)(?<digits>\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?<exponent>e[+-]?\d+)?$/i;

/** Undefined for a text that is no number. */
export function numberIn(text: string): number | undefined {
  const { groups } = NUMBER.exec(text.trim()) ?? {};
  if (!groups || (groups.sign && groups.sign2)) return undefined;
  const { sign, sign2, digits, exponent = '' } = groups;
  return Number(`${sign || sign2}${digits!.replaceAll(',', '')}${exponent}`);
}

export const isNumeric = (text: string): boolean => Number.isFinite(numberIn(text) ?? NaN);

/** A number with a dollar sign or with commas. */
export const isFormatted = (text: string): boolean =>
  /[$,]/.test(text) && numberIn(text) !== undefined;

export const foldCase = (text: string): string => text.trim().toLowerCase();

const PHONES = new Set(['number_called', 'caller_id', 'caller_number', 'service_number']);
const STATES = new Set(['geo_state', 'state', 'state_province']);

/** Returns the function that normalizes values of a token: equal results for equal meanings. */
export function keyFor(name: string): (value: string) => string {
  if (PHONES.has(name)) return phoneKey;
  return STATES.has(name) ? stateKey : foldCase;
}

/** +1 310 555 0123, 13105550123 and (310) 555-0123 are one number. */
function phoneKey(value: string): string {
  if (!/^[\s+\d().-]+$/.test(value)) return foldCase(value);
  const digits = value.replace(/\D/g, '');
  return digits.length === 11 && digits.startsWith('1') ? digits.slice(1) : digits;
}

/** California and CA are one state. */
const stateKey = (value: string): string => stateCode(value)?.toLowerCase() ?? foldCase(value);
