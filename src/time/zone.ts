import { toZonedTime } from 'date-fns-tz';
import { DISPLAY_NAMES } from './zone-names';

/** Every IANA name this Node knows, with UTC, which the list of the runtime leaves out. */
export const IANA_NAMES: readonly string[] = [
  'UTC',
  ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC'),
];

const known = new Map<string, string | undefined>();

/** The IANA name of a zone given by IANA or display name; undefined when it is neither. */
export function ianaName(name: string): string | undefined {
  if (Object.hasOwn(DISPLAY_NAMES, name)) return DISPLAY_NAMES[name];
  if (!known.has(name)) {
    // Bounded, in number and length: the name comes from requests.
    if (name.length > 64) return undefined;
    if (known.size > 5_000) known.clear();
    known.set(name, resolve(name));
  }
  return known.get(name);
}

const listed = new Set(IANA_NAMES);

/**
 * A listed name, or the listed zone that a longer name is another name of. Short names (EST, IST, CST) are refused: PostgreSQL and Node take
 * them for different zones, and for some only one of the two has any.
 */
function resolve(name: string): string | undefined {
  if (listed.has(name)) return name;
  if (/^Etc\/(UTC|GMT([+-]\d{1,2})?)$/.test(name) || /^[A-Za-z]+\/[A-Za-z_/+-]+$/.test(name)) {
    try {
      const zone = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
      return listed.has(zone) || zone.startsWith('Etc/') ? zone : undefined;
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/**
 * Milliseconds to add to UTC to get the local time of an IANA zone at an instant. (getTimezoneOffset of date-fns-tz takes a wall-clock time
 * instead, and is an hour off around changes of the clock.) Right in a process whose own zone is UTC, as config.ts sees to.
 */
export function offsetAt(zone: string, instant: Date): number {
  return toZonedTime(instant, zone).getTime() - instant.getTime();
}

/** An offset in milliseconds as `+HH:MM`. */
/** Local minutes of the week by zone, in the one minute that was asked for last: a thousand buyers are asked about at a time. */
const minutes = { minute: NaN, by_zone: new Map<string, number>() };

/** The minute of the local week: 0 is Sunday 00:00. */
export function minuteOfWeek(zone: string, instant: Date): number {
  const minute = Math.floor(instant.getTime() / 60_000);
  if (minutes.minute !== minute) Object.assign(minutes, { minute, by_zone: new Map() });
  const known = minutes.by_zone.get(zone);
  if (known !== undefined) return known;
  const local = new Date(instant.getTime() + offsetAt(zone, instant));
  const found = local.getUTCDay() * 1_440 + local.getUTCHours() * 60 + local.getUTCMinutes();
  minutes.by_zone.set(zone, found);
  return found;
}

export function formatOffset(offset_ms: number): string {
  const minutes = Math.abs(Math.round(offset_ms / 60_000));
  const two = (n: number) => String(n).padStart(2, '0');
  return `${offset_ms < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** An instant as answers have it: ISO 8601 with milliseconds and the offset of an IANA zone. */
export function formatInstant(instant: Date, zone: string): string {
  const offset = offsetAt(zone, instant);
  return new Date(instant.getTime() + offset).toISOString().replace('Z', formatOffset(offset));
}

const DAY_MS = 86_400_000;

/**
 * The instant of a wall-clock time (given as if it were UTC) in an IANA zone. A time that does not exist counts from the offset
 * before the change, one that exists twice means the second: both as PostgreSQL does, so that the two never disagree.
 */
export function instantOf(wall: Date, zone: string): Date {
  const before = offsetAt(zone, new Date(wall.getTime() - DAY_MS));
  const after = offsetAt(zone, new Date(wall.getTime() + DAY_MS));
  const late = new Date(wall.getTime() - after);
  return offsetAt(zone, late) === after ? late : new Date(wall.getTime() - before);
}

const FORM =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/i;

/**
 * Reads a date-time in any accepted spelling: `YYYY-MM-DD HH:MM:SS +ZZZZ`, with `UTC`, ISO 8601, without offset (then in `zone`),
 * or a date alone (its first moment). Undefined when it is none of these or no real date.
 */
export function parseInstant(text: string, zone = 'UTC'): Date | undefined {
  // A plus sign in a query string arrives as a space.
  const match = FORM.exec(
    text
      .trim()
      .replace(/ (\d{2}:?\d{2})$/, (tail, offset: string) =>
        /\d{2}:\d{2}.* /.test(text) ? ` +${offset}` : tail,
      ),
  );
  if (!match) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0', suffix] =
    match;
  const parts = [year, month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const wall = new Date(
    Date.UTC(
      parts[0],
      parts[1] - 1,
      parts[2],
      parts[3],
      parts[4],
      parts[5],
      Math.floor(Number(`0.${fraction}`) * 1000),
    ),
  );
  const real =
    wall.getUTCFullYear() === parts[0] &&
    wall.getUTCMonth() === parts[1] - 1 &&
    wall.getUTCDate() === parts[2] &&
    parts[3] < 24 &&
    parts[4] < 60 &&
    parts[5] < 60;
  // Years of four digits, with room for every offset.
  if (!real || parts[0] < 1000 || parts[0] > 9998) return undefined;
  if (!suffix) return instantOf(wall, zone);
  if (/^(Z|UTC)$/i.test(suffix)) return wall;
  const sign = suffix.startsWith('-') ? -1 : 1;
  const offset_minutes = Number(suffix.slice(1, 3)) * 60 + Number(suffix.slice(-2));
  return offset_minutes > 14 * 60
    ? undefined
    : new Date(wall.getTime() - sign * offset_minutes * 60_000);
}
