import { toZonedTime } from 'date-fns-tz/toZonedTime';
import { DISPLAY_NAMES } from './zone-names';

/** All IANA names that this Node knows, and UTC, which the list of the runtime leaves out. */
export const IANA_NAMES: readonly string[] = [
  'UTC',
  ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC'),
];

const resolvedNames = new Map<string, string | undefined>();

/** The IANA name of a zone given by IANA or display name; undefined when it is neither. */
export function ianaName(name: string): string | undefined {
  if (Object.hasOwn(DISPLAY_NAMES, name)) return DISPLAY_NAMES[name];
  if (!resolvedNames.has(name)) {
    // Bounded, in number and length: the name comes from requests.
    if (name.length > 64) return undefined;
    if (resolvedNames.size > 5_000) resolvedNames.clear();
    resolvedNames.set(name, resolve(name));
  }
  return resolvedNames.get(name);
}

const byLower = new Map(
  [...IANA_NAMES, ...Object.keys(DISPLAY_NAMES)].map((name) => [name.toLowerCase(), name]),
);

/** The listed name of a zone that is written in other case; other names unchanged. */
export const listedName = (name: string): string => byLower.get(name.toLowerCase()) ?? name;

const listedNames = new Set(IANA_NAMES);

/**
 * A listed name, or the listed zone of an alias. Short names (EST, IST, CST) are not accepted:
 * PostgreSQL and Node take them for different zones, or only one of the two knows them.
 */
function resolve(name: string): string | undefined {
  if (listedNames.has(name)) return name;
  if (/^Etc\/(UTC|GMT([+-]\d{1,2})?)$/.test(name) || /^[A-Za-z]+\/[A-Za-z_/+-]+$/.test(name)) {
    try {
      const zone = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
      return listedNames.has(zone) || zone.startsWith('Etc/') ? zone : undefined;
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/**
 * Milliseconds to add to UTC to get the local time of an IANA zone at an instant. Correct only in a
 * process whose own zone is UTC, which src/main/config.ts ensures. (getTimezoneOffset of
 * date-fns-tz takes a wall-clock time instead and is an hour off around clock changes.)
 */
export function offsetAt(zone: string, instant: Date): number {
  return toZonedTime(instant, zone).getTime() - instant.getTime();
}

/**
 * Minutes of the week by zone, cached for the last minute that was requested: one decision needs
 * those of up to a thousand buyers.
 */
const minutes = { minute: NaN, by_zone: new Map<string, number>() };

/** The minute of the local week: 0 is Sunday 00:00. */
export function minuteOfWeek(zone: string, instant: Date): number {
  const minute = Math.floor(instant.getTime() / 60_000);
  if (minutes.minute !== minute) Object.assign(minutes, { minute, by_zone: new Map() });
  const cachedMinute = minutes.by_zone.get(zone);
  if (cachedMinute !== undefined) return cachedMinute;
  const local = new Date(instant.getTime() + offsetAt(zone, instant));
  const weekMinute = local.getUTCDay() * 1_440 + local.getUTCHours() * 60 + local.getUTCMinutes();
  minutes.by_zone.set(zone, weekMinute);
  return weekMinute;
}

/** An offset in milliseconds as `+HH:MM`. */
export function formatOffset(offsetMs: number): string {
  const minutes = Math.abs(Math.round(offsetMs / 60_000));
  const two = (n: number) => String(n).padStart(2, '0');
  return `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** The form of responses: ISO 8601 with milliseconds and the offset of an IANA zone. */
export function formatInstant(instant: Date, zone: string): string {
  const offset = offsetAt(zone, instant);
  return new Date(instant.getTime() + offset).toISOString().replace('Z', formatOffset(offset));
}

const DAY_MS = 86_400_000;

/**
 * The instant of a wall-clock time (given as if it were UTC) in an IANA zone. It agrees with
 * PostgreSQL: a time that does not exist has the offset before the change, a time that exists twice
 * is the second. A day begins with the first, where clocks go back over midnight.
 */
export function toInstant(wall: Date, zone: string, { isFirst = false } = {}): Date {
  const before = offsetAt(zone, new Date(wall.getTime() - DAY_MS));
  const after = offsetAt(zone, new Date(wall.getTime() + DAY_MS));
  const early = new Date(wall.getTime() - before);
  if (isFirst && offsetAt(zone, early) === before) return early;
  const late = new Date(wall.getTime() - after);
  return offsetAt(zone, late) === after ? late : early;
}

const DATE = String.raw`(\d{4}-\d{2}-\d{2})`;
const TIME = String.raw`(\d{2}:\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?`;
const OFFSET = String.raw`(Z|UTC|[+-]\d{2}:?\d{2})`;
const FORM = new RegExp(String.raw`^${DATE}(?:[T ]${TIME})?\s*${OFFSET}?$`, 'i');

/** Longer texts are not matched. */
const MAX_INSTANT_CHARS = 64;

/** The period of a spelled time: a date is its day, 23:59 its minute, others a second or less. */
interface Span {
  start: Date;
  /** The first moment after it. */
  end: Date;
  /** A day, or the last of its unit, as in 23:59:59 or .999: periods that end with it include it. */
  isWhole: boolean;
}

/**
 * Reads a date-time in any accepted spelling: `YYYY-MM-DD HH:MM:SS +ZZZZ`, with `UTC`, ISO 8601,
 * without offset (then in `zone`), or a date alone (its first moment). Undefined when it is none of
 * these or no real date.
 */
export const parseInstant = (text: string, zone = 'UTC'): Date | undefined =>
  parseSpan(text, zone)?.start;

/** The last microsecond of a spelled time: of the day of a date, of the second of 23:59:59. */
export function parseLastMoment(text: string, zone = 'UTC'): string | undefined {
  const span = parseSpan(text, zone);
  return span && new Date(span.end.getTime() - 1).toISOString().replace('Z', '999Z');
}

/** The first moment after a period that ends with a spelled day or 23:59:59, or at another time. */
export function parseEnd(text: string, zone = 'UTC'): Date | undefined {
  const span = parseSpan(text, zone);
  return span?.isWhole ? span.end : span?.start;
}

function parseSpan(text: string, zone: string): Span | undefined {
  if (text.length > MAX_INSTANT_CHARS) return undefined;
  // A plus sign in a query string arrives as a space.
  const restored = text
    .trim()
    .replace(/ (\d{2}:?\d{2})$/, (tail, offset: string) =>
      /\d{2}:\d{2}.* /.test(text) ? ` +${offset}` : tail,
    );
  const match = FORM.exec(restored);
  if (!match) return undefined;
  const [minute, second, fraction, offset] = match.slice(2);
  const wall = parseWallClock(match.slice(1, 5));
  const shift = offset ? parseOffset(offset) : 0;
  if (!wall || shift === undefined) return undefined;
  const convert = (local: Date): Date =>
    offset ? new Date(local.getTime() - shift) : toInstant(local, zone, { isFirst: !minute });
  const start = convert(wall);
  if (!minute) return { start, end: convert(new Date(wall.getTime() + DAY_MS)), isWhole: true };
  const isWhole = fraction ? /^999/.test(fraction) : (second ?? minute).endsWith('59');
  const wholeMs = second === undefined && isWhole ? 60_000 : 1_000;
  return { start, end: new Date(start.getTime() + (fraction ? 1 : wholeMs)), isWhole };
}

/** Milliseconds; undefined beyond 14 hours. */
function parseOffset(offset: string): number | undefined {
  if (/^(Z|UTC)$/i.test(offset)) return 0;
  const sign = offset.startsWith('-') ? -1 : 1;
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(-2));
  return minutes > 14 * 60 ? undefined : sign * minutes * 60_000;
}

/** The wall-clock time of the parts of FORM, as if it were UTC; undefined when there is none. */
function parseWallClock(parts: readonly (string | undefined)[]): Date | undefined {
  const [date = '', minute = '00:00', second = '00', fraction = ''] = parts;
  const text = `${date}T${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  const wall = new Date(text);
  // Date takes February 30 for March 2.
  const isDate = !Number.isNaN(wall.getTime()) && wall.toISOString() === text;
  // Years of four digits, with room for every offset.
  return isDate && date >= '1000' && date < '9999' ? wall : undefined;
}
