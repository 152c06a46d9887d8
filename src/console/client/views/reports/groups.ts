import type { Schemas, Scope } from '../../api';
import { day } from '../../format';
import type { Session } from '../../session';

export type GroupName = Schemas['CallReportGroup'];
type Key = Schemas['CallReportKey'];

export const GROUPS: Readonly<Record<GroupName, string>> = {
  day: 'Day',
  week: 'Week',
  month: 'Month',
  hour: 'Hour',
  hour_of_day: 'Hour of the day',
  day_of_week: 'Day of the week',
  traffic_source: 'Source',
  buyer: 'Buyer',
  buyer_group: 'Group of buyers',
  offer: 'Offer',
  schedule: 'Schedule',
  number: 'Number',
  sub_id: 'Sub-source',
  state: 'State',
  token: 'Token',
};

/** Permission to read the records of a group. */
const SCOPES: Partial<Record<GroupName, Scope>> = {
  traffic_source: 'traffic_sources:read',
  buyer: 'buyers:read',
  buyer_group: 'buyer_groups:read',
  offer: 'offers:read',
  schedule: 'schedules:read',
  number: 'phone_numbers:read',
};

/** The groups whose names the caller may read, with their titles. */
export const listGroups = ({ may }: Session): Partial<Record<GroupName, string>> =>
  Object.fromEntries(
    Object.entries(GROUPS).filter(([name]) => {
      const scope = SCOPES[name as GroupName];
      return scope === undefined || may(scope);
    }),
  );

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MONTH = new Intl.DateTimeFormat('en-US', {
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});

/** Times of keys are local ones of the report already. */
const TIMES: Partial<Record<GroupName, (key: string) => string>> = {
  day,
  week: (key) => `Week of ${day(key)}`,
  month: (key) => MONTH.format(new Date(`${key}-01T00:00Z`)),
  hour: (key) => `${day(key.slice(0, 10))}, ${key.slice(11, 16)}`,
  hour_of_day: (key) => `${key.padStart(2, '0')}:00`,
  day_of_week: (key) => WEEKDAYS[Number(key) - 1] ?? key,
};

/** The name of a group of calls, in words. */
export function nameGroup({ by, key, name }: Key): string {
  if (key === null) return 'none';
  return name ?? TIMES[by]?.(key) ?? key;
}

/** The name of a group in a file: days as a spreadsheet reads and sorts them. */
export function exportGroup(group: Key): string {
  const { by, key } = group;
  if (key !== null && (by === 'day' || by === 'week')) return key;
  return key !== null && by === 'hour' ? key.slice(0, 16).replace('T', ' ') : nameGroup(group);
}
