import type { DialBuyer } from './service';

// Numbers, trunks and headers come from outside: each is one part of what a switch dials.

export interface DialSettings {
  /** How a telephone number is dialed: `{number}` with `+`, `{digits}` without. */
  dial: string;
  /** How a number is dialed through a trunk of the service: `{trunk}`, `{host}`, `{number}`. */
  dial_trunk: string;
  /** How a SIP address is dialed: `{uri}`. */
  dial_sip: string;
}

const SIP_ADDRESS = /^sips?:[^\s,&|()<>"'\\]+$/i;
const NUMBER = /^\+?\d{1,20}$/;
/** Parts of an endpoint are no more than one. */
const PART = /^[\w.:[\] #*+-]+$/;
const HEADER = /^[A-Za-z][A-Za-z0-9-]*$/;

export const isNumber = (text: string): boolean => NUMBER.test(text);

/** The endpoint by which a switch dials a number; undefined for one that it must not be given. */
export function buildEndpoint(
  number: string,
  { dial, dial_sip }: Pick<DialSettings, 'dial' | 'dial_sip'>,
): string | undefined {
  if (SIP_ADDRESS.test(number)) return dial_sip.replaceAll('{uri}', () => number);
  if (!NUMBER.test(number)) return undefined;
  return dial.replaceAll('{number}', number).replaceAll('{digits}', number.replace('+', ''));
}

/** The endpoint of a number as its trunk wants it. */
export function buildTrunkEndpoint(
  { name, host, number }: NonNullable<DialBuyer['trunk']>,
  { dial_trunk }: Pick<DialSettings, 'dial_trunk'>,
): string | undefined {
  if (![name, host, number].every((part) => PART.test(part))) return undefined;
  return dial_trunk
    .replaceAll('{trunk}', name)
    .replaceAll('{host}', host)
    .replaceAll('{number}', number);
}

/** Headers for the INVITE of a leg, with one line each. */
export const listHeaders = (headers: Record<string, string>): [name: string, value: string][] =>
  Object.entries(headers)
    .filter(([name]) => HEADER.test(name))
    // A line break would begin another header.
    .map(([name, value]) => [name, value.replace(/\p{Cc}+/gu, ' ')]);
