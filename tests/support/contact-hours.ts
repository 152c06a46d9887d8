import { nextContact, type ContactHours } from '../../src/platform/time/contact-hours';
import { openMinutes, parseRange, type ScheduleEntry } from '../../src/platform/time/opening-hours';

export const [EASTERN, CENTRAL, MOUNTAIN, PACIFIC] = [
  'America/New_York',
  'America/Chicago',
  'America/Denver',
  'America/Los_Angeles',
] as const;
export const DEFAULT = '08:00..20:59';
export const buildHours = (
  daylight: string,
  business: ScheduleEntry[] = [],
  businessZone: string = EASTERN,
): ContactHours => ({
  daylight: parseRange(daylight)!,
  business_open: openMinutes(business),
  business_zone: businessZone,
});
/**
 * When contact is allowed, as `at` and what shifted it; the date is left out where it is that of
 * `from`.
 */
export const next = (hours: ContactHours, zones: string[], from: string) => {
  const contact = nextContact(hours, zones, new Date(from));
  return (
    contact &&
    [
      contact.at.toISOString().replace(':00.000Z', 'Z'),
      ...(contact.shifted_by ? [contact.shifted_by] : []),
    ].join(' ')
  );
};
