import type { ServiceSettings, DialBuyer } from '../service/service';

export interface AsteriskSettings {
  service: ServiceSettings;
  /** How a telephone number is dialed: `{number}` with `+`, `{digits}` without. */
  dial: string;
  /** How a number is dialed through a trunk of the service: `{trunk}`, `{host}`, `{number}`. */
  dial_trunk: string;
  /** How a SIP address is dialed: `{uri}`. */
  dial_sip: string;
  /** A program that writes the text of its standard input as speech to the WAV file it is given. */
  tts_command?: string;
  /** Folder of that speech, which Asterisk reads too. */
  sounds_dir: string;
  /** Asks a buyer to press 1 where a text cannot be spoken. */
  prompt_sound: string;
  /** Headers of the caller's INVITE that are passed on. */
  headers: string[];
}

const SIP_ADDRESS = /^sips?:[^\s,&|()<>"'\\]+$/i;
const NUMBER = /^\+?\d{1,20}$/;
/** Parts of an endpoint are no more than one. */
const PART = /^[\w.:[\] #*+-]+$/;
const HEADER = /^[A-Za-z][A-Za-z0-9-]*$/;

/** The endpoint by which Asterisk dials a number; undefined for one that it must not be given. */
export function buildEndpoint(
  number: string,
  { dial, dial_sip }: Pick<AsteriskSettings, 'dial' | 'dial_sip'>,
): string | undefined {
  if (SIP_ADDRESS.test(number)) return dial_sip.replaceAll('{uri}', () => number);
  if (!NUMBER.test(number)) return undefined;
  return dial.replaceAll('{number}', number).replaceAll('{digits}', number.replace('+', ''));
}

/** The endpoint of a number as its trunk wants it. */
export function buildTrunkEndpoint(
  { name, host, number }: NonNullable<DialBuyer['trunk']>,
  { dial_trunk }: Pick<AsteriskSettings, 'dial_trunk'>,
): string | undefined {
  if (![name, host, number].every((part) => PART.test(part))) return undefined;
  return dial_trunk
    .replaceAll('{trunk}', name)
    .replaceAll('{host}', host)
    .replaceAll('{number}', number);
}

/** Variables of a channel that add headers to its INVITE. */
export const buildHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => HEADER.test(name))
      // A line break would begin another header.
      .map(([name, value]) => [`PJSIP_HEADER(add,${name})`, value.replace(/\p{Cc}+/gu, ' ')]),
  );
