import type { Schemas } from '../api';

// Opening hours as the API has them, and as a week of open times.

export type Entry = Schemas['BusinessHours'];

export const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
export const DAY_MINUTES = 24 * 60;

/** Minutes of a day; `to` is exclusive. */
export interface Open {
  from: number;
  to: number;
}

const minutes = (clock: string): number => {
  const [hours = 0, minute = 0] = clock.split(':').map(Number);
  return hours * 60 + minute;
};
export const clock = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

/** The open times of each day. Times past midnight are part of the next day. */
export function toWeek(entries: readonly Entry[]): Open[][] {
  const week: Open[][] = DAYS.map(() => []);
  for (const { day, times } of entries.flatMap(({ schedule }) => schedule ?? []))
    for (const range of times) {
      const [from, last] = range.split('..').map(minutes) as [number, number];
      // The last minute is included.
      if (last >= from) week[day]!.push({ from, to: last + 1 });
      else {
        week[day]!.push({ from, to: DAY_MINUTES });
        week[(day + 1) % DAYS.length]!.push({ from: 0, to: last + 1 });
      }
    }
  return week.map((day) => day.sort((first, second) => first.from - second.from));
}

export const isAlways = (entries: readonly Entry[]): boolean =>
  entries.every(({ schedule }) => (schedule ?? []).length === 0);

/** Formats the times of a day: 09:00–12:00, 13:00–17:30. */
export const formatTimes = (open: readonly Open[]): string =>
  open.map(({ from, to }) => `${clock(from)}–${clock(to)}`).join(', ');

const TIMES = /^(\d{1,2}):(\d{2})\s*(?:-|–|\.\.)\s*(\d{1,2}):(\d{2})$/;

/** Throws for a text that is no list of times. */
export function openIn(text: string, day: string): Open[] {
  const ranges = text.split(',').map((range) => range.trim());
  return ranges.filter(Boolean).map((range) => {
    const [h1, m1, h2, m2] = (TIMES.exec(range)?.slice(1) ?? []).map(Number);
    const [from, to] = [h1! * 60 + m1!, h2! * 60 + m2!];
    if (!(m1! < 60 && m2! < 60 && from < to && to <= DAY_MINUTES))
      throw new Error(`${day}: ${range} is no time such as 09:00–17:00.`);
    return { from, to };
  });
}

/** The hours in the form of the API, with the limits of the entry that they replace. */
export function toEntries(week: readonly Open[][], before: Entry | undefined): Entry[] {
  const schedule = week.flatMap((open, day) =>
    open.length === 0
      ? []
      : { day, times: open.map(({ from, to }) => `${clock(from)}..${clock(to - 1)}`) },
  );
  return [{ ...before, schedule }];
}
