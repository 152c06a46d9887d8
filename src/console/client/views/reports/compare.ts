import type { Schemas } from '../../api';
import { moveDay } from '../../table/period';

type Row = Schemas['GroupedCallReportRow'];
type Key = Schemas['CallReportKey'];

const DAY_MS = 86_400_000;
const noon = (day: string): number => Date.parse(`${day}T12:00Z`);
const daysBetween = (first: string, last: string): number =>
  Math.round((noon(last) - noon(first)) / DAY_MS);
const monthNumber = (text: string): number =>
  Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7)) - 1;
const firstOf = (month: number): string =>
  `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}-01`;

/** A first and a last day, both included. */
export type DaySpan = readonly [first: string, last: string];

/** The days before: as many months before whole months, otherwise as many days. */
export function findDaysBefore([first, last]: DaySpan): DaySpan {
  const isWholeMonths = first.endsWith('-01') && moveDay(last, 1).endsWith('-01');
  if (!isWholeMonths) {
    const days = daysBetween(first, last) + 1;
    return [moveDay(first, -days), moveDay(first, -1)];
  }
  const months = monthNumber(moveDay(last, 1)) - monthNumber(first);
  return [firstOf(monthNumber(first) - months), moveDay(first, -1)];
}

/** Monday of the week of a day. */
const weekOf = (day: string): string => moveDay(day, -((new Date(noon(day)).getUTCDay() + 6) % 7));

/** Times of a key by how far they are from the beginning of their period. */
function placeKey({ by, key }: Key, first: string): string | null {
  if (key === null) return null;
  if (by === 'day') return String(daysBetween(first, key));
  if (by === 'week') return String(daysBetween(weekOf(first), key) / 7);
  if (by === 'month') return String(monthNumber(key) - monthNumber(first));
  if (by === 'hour') return `${daysBetween(first, key.slice(0, 10))} ${key.slice(11, 16)}`;
  return key;
}

/** Equal for the two rows of compared periods that belong together. */
export const joinKey = ({ groups }: Row, first: string): string =>
  JSON.stringify(groups.map((group) => placeKey(group, first)));

/** By how much a figure has changed; undefined where there was nothing to compare it with. */
export const findChange = (now: number | null, before: number | null): number | undefined =>
  now === null || before === null || before === 0 ? undefined : (now - before) / Math.abs(before);
