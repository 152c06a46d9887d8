import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { isWholeCents } from '../../platform/dollars';
import { isMailAddress, parseMailbox } from '../../platform/mail/address';
import { parseRange } from '../../platform/time/opening-hours';
import { ianaName } from '../../platform/time/zone';
import { OPERATORS, parseFilter, parsePair, splitPairs } from '../../platform/tokens/filters';
import { PATTERN_LIMITS } from '../../platform/tokens/patterns';
import { isHttpUrl } from './http-url';

interface Format {
  type: 'string' | 'number';
  validate: (value: never) => boolean;
  /** The allowed values, for the error. */
  allowed: string;
}

/** sip:user@host, with a port and parameters. */
const SIP = new RegExp(
  "^sips?:[A-Za-z0-9_.!~*'()&=+$,;?/%-]{1,100}" +
    '@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,200}[A-Za-z0-9])?' +
    '(?::\\d{1,5})?(?:;[A-Za-z0-9_.=-]{1,50}){0,5}$',
);

export function isCallDestination(value: string): boolean {
  if (value.startsWith('sip')) return SIP.test(value);
  return (
    /^\+[1-9]\d{6,14}$/.test(value) && parsePhoneNumberFromString(value)?.isPossible() === true
  );
}

const DATE_TIME: Format = {
  type: 'string',
  validate: (value: string) => !Number.isNaN(Date.parse(value)),
  allowed: 'must be a date-time',
};

/** The formats of the contract that JSON Schema does not know. */
export const FORMATS: Record<string, Format> = {
  money: {
    type: 'number',
    validate: isWholeCents,
    allowed: 'must be dollars in steps of 0.01',
  },
  'time-zone': {
    type: 'string',
    validate: (value: string) => ianaName(value) !== undefined,
    allowed: 'must be a time zone of /api/v1/collections/time_zone',
  },
  'call-destination': {
    type: 'string',
    validate: isCallDestination,
    allowed:
      'must be a possible telephone number as + and digits, such as +13105550123,' +
      ' or a SIP address such as sip:desk@example.com',
  },
  country: {
    type: 'string',
    validate: isSupportedCountry,
    allowed: 'must be the two capital letters of a country, such as US',
  },
  // Parsed by the operation, whose reply says for each text why it is not a number.
  telephone: { type: 'string', validate: () => true, allowed: 'must be a telephone number' },
  'token-pair': {
    type: 'string',
    validate: (value: string) => parsePair(value) !== undefined,
    allowed: 'must be key:value, the key of lowercase letters, digits and underscores',
  },
  'token-pairs': {
    type: 'string',
    validate: (value: string) => splitPairs(value).every((pair) => parsePair(pair) !== undefined),
    allowed:
      'must be key:value pairs separated by commas,' +
      ' the keys of lowercase letters, digits and underscores',
  },
  'token-filter': {
    type: 'string',
    validate: (value: string) => parseFilter(value) !== undefined,
    allowed: `must be ${OPERATORS}. A regular expression is ${PATTERN_LIMITS}`,
  },
  'time-range': {
    type: 'string',
    validate: (value: string) => parseRange(value) !== undefined,
    allowed: 'must be HH:MM..HH:MM, from 00:00 to 23:59',
  },
  // The end of a period, where what is at that moment belongs to it, and where it does not.
  'last-moment': DATE_TIME,
  'period-end': DATE_TIME,
  'date-time': DATE_TIME,
  email: {
    type: 'string',
    validate: isMailAddress,
    allowed: 'must be one e-mail address',
  },
  mailbox: {
    type: 'string',
    validate: (value: string) => parseMailbox(value) !== undefined,
    allowed: 'must be one e-mail address, such as desk@example.com or Desk <desk@example.com>',
  },
  // URLs that this service requests are checked further, by code that knows the allowed networks.
  // Carriers send a blank text for none.
  'http-url': {
    type: 'string',
    validate: (value: string) => value === '' || isHttpUrl(value),
    allowed: 'must be an http or https URL',
  },
};
