import { nextContact, type ContactHours } from '../../src/time/contact-hours';
import { openMinutes, parseRange, type ScheduleEntry } from '../../src/time/opening-hours';

export const [EASTERN, CENTRAL, MOUNTAIN, PACIFIC] = [
  'America/New_York',
  'America/Chicago',
  'America/Denver',
  'America/Los_Angeles',
] as const;
export const DEFAULT = '08:00..20:59';
export const hoursOf = (
  daylight: string,
  business: ScheduleEntry[] = [],
  business_zone: string = EASTERN,
): ContactHours => ({
  daylight: parseRange(daylight)!,
  business_open: openMinutes(business),
  business_zone,
});
/**
 * When contact is allowed, as `at` and what shifted it; the date is left out where it is that of
 * `from`.
 */
export const next = (hours: ContactHours, zones: string[], from: string) => {
  const found = nextContact(hours, zones, new Date(from));
  return (
    found &&
    [
      found.at.toISOString().replace(':00.000Z', 'Z'),
      ...(found.shifted_by ? [found.shifted_by] : []),
    ].join(' ')
  );
};
