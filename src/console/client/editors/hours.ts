// Opening hours as the API has them, and as people type and draw them. Nothing here draws.

/** Opening times of one weekday; Sunday is 0. */
export interface DayTimes {
  day: number;
  times: readonly string[];
}
export type Week = readonly DayTimes[];

export const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
/** As weeks are shown: from Monday. */
export const SHOWN_DAYS = [1, 2, 3, 4, 5, 6, 0] as const;
export const DAY_MINUTES = 24 * 60;

/** Minutes of a day; `to` is exclusive, and lies on the next day where it is beyond midnight. */
export interface Open {
  from: number;
  to: number;
}

export const clock = (minute: number): string => {
  const [hours, minutes] = [Math.floor(minute / 60), minute % 60];
  return `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
};

const API_RANGE = /^(\d{1,2}):(\d{2})\.\.(\d{1,2}):(\d{2})$/;
/** Without the spaces in it. */
const TYPED_RANGE =
  /^(\d{1,2})(?::?([0-5]\d))?(am|pm)?(?:-|–|to|\.\.)(\d{1,2})(?::?([0-5]\d))?(am|pm)?$/i;

/** A range of the API, whose last minute is included; undefined if it is none. */
export function readRange(range: string): Open | undefined {
  const [h1, m1, h2, m2] = (API_RANGE.exec(range)?.slice(1) ?? []).map(Number);
  if (m2 === undefined) return undefined;
  const [from, last] = [h1! * 60 + m1!, h2! * 60 + m2];
  return { from, to: last >= from ? last + 1 : last + 1 + DAY_MINUTES };
}

export const printRange = ({ from, to }: Open): string =>
  `${clock(from)}..${clock((to - 1) % DAY_MINUTES)}`;

/** `09:00–17:00`; until midnight is 24:00. */
const formatRange = (range: string): string => {
  const open = readRange(range);
  if (!open) return range;
  const end = open.to > DAY_MINUTES ? open.to - DAY_MINUTES : open.to;
  return `${clock(open.from)}–${clock(end)}`;
};

/** The times of a day as people read them. */
export const formatTimes = (times: readonly string[]): string => times.map(formatRange).join(', ');

function readClock(hours: string, minutes: string | undefined, half: string | undefined) {
  const hour = Number(hours);
  const added = half?.toLowerCase() === 'pm' && hour < 12 ? 12 : 0;
  const isMidnight = half?.toLowerCase() === 'am' && hour === 12;
  return (isMidnight ? 0 : hour + added) * 60 + Number(minutes ?? 0);
}

/** A typed range, `9:00-17:30` or `9am–5pm`; undefined if it is none. */
function readTyped(text: string): Open | undefined {
  const parts = TYPED_RANGE.exec(text.replaceAll(' ', ''));
  if (!parts) return undefined;
  const from = readClock(parts[1]!, parts[2], parts[3] ?? undefined);
  const to = readClock(parts[4]!, parts[5], parts[6] ?? undefined);
  const isValid = from < DAY_MINUTES && to <= DAY_MINUTES && to !== from;
  if (!isValid) return undefined;
  return { from, to: to > from ? to : to + DAY_MINUTES };
}

/** The first part of a typed text that is no range; undefined if all are. */
export const findTimesFault = (text: string): string | undefined =>
  splitTimes(text).find((part) => readTyped(part) === undefined);

const splitTimes = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** A typed text as the API has it; a part that is no range stays, so that it is refused there. */
export const readTimes = (text: string): string[] =>
  splitTimes(text).map((part) => {
    const open = readTyped(part);
    return open ? printRange(open) : part;
  });

export const timesOn = (week: Week, day: number): readonly string[] =>
  week.filter((entry) => entry.day === day).flatMap(({ times }) => times);

/** The week with other times on a day; a day without times is closed. */
export function withTimes(week: Week, day: number, times: readonly string[]): DayTimes[] {
  const others = week.filter((entry) => entry.day !== day && entry.times.length > 0);
  const changed = times.length === 0 ? others : [...others, { day, times }];
  return changed.sort((first, second) => first.day - second.day);
}

/** The week with the times of one day on other days too. */
export const copyDay = (week: Week, from: number, to: readonly number[]): DayTimes[] =>
  to.reduce<DayTimes[]>(
    (copied, day) => withTimes(copied, day, timesOn(week, from)),
    withTimes(week, from, timesOn(week, from)),
  );

/** Open times of a day, with what goes on from the day before. */
export interface DrawnDay {
  own: Open[];
  before: Open[];
}

/** All days as they are drawn; what is past midnight stands on the next day. */
export function drawWeek(week: Week): DrawnDay[] {
  const open = DAYS.map((_, day) =>
    timesOn(week, day).flatMap((range) => {
      const parsed = readRange(range);
      return parsed ? [parsed] : [];
    }),
  );
  return DAYS.map((_, day) => ({
    own: open[day]!.map(({ from, to }) => ({ from, to: Math.min(to, DAY_MINUTES) })),
    before: open[(day + DAYS.length - 1) % DAYS.length]!.flatMap(({ to }) =>
      to > DAY_MINUTES ? [{ from: 0, to: to - DAY_MINUTES }] : [],
    ),
  }));
}

/** A day after a stroke over some of its minutes, which opens or closes them. */
export function paintTimes(times: readonly string[], stroke: Open, isOpening: boolean): string[] {
  const ranges = times.flatMap((range) => {
    const parsed = readRange(range);
    return parsed ? [parsed] : [];
  });
  const left = ranges.flatMap(({ from, to }) =>
    [
      { from, to: Math.min(to, stroke.from) },
      { from: Math.max(from, stroke.to), to },
    ].filter((part) => part.from < part.to),
  );
  return joinRanges(isOpening ? [...left, stroke] : left).map(printRange);
}

function joinRanges(ranges: readonly Open[]): Open[] {
  const sorted = [...ranges].sort((first, second) => first.from - second.from);
  const joined: Open[] = [];
  for (const range of sorted) {
    const last = joined.at(-1);
    if (last && range.from <= last.to) last.to = Math.max(last.to, range.to);
    else joined.push({ ...range });
  }
  return joined;
}
