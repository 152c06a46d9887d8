const DAY = 1_440;
const WEEK = 7 * DAY;

/** One entry of opening hours: Sunday is 0; times are `HH:MM..HH:MM`, both minutes included. */
export interface ScheduleEntry {
  day: number;
  times: string[];
}

const RANGE = /^([01]\d|2[0-3]):([0-5]\d)\.\.([01]\d|2[0-3]):([0-5]\d)$/;

/** The first and the last open minute of the day; undefined when the range is malformed. */
export function parseRange(range: string): [number, number] | undefined {
  const match = RANGE.exec(range);
  if (!match) return undefined;
  const [from, to] = [
    Number(match[1]) * 60 + Number(match[2]),
    Number(match[3]) * 60 + Number(match[4]),
  ];
  return [from, to];
}

/**
 * The minutes of the week (0 is Sunday 00:00, 10,080 its end) at which a schedule opens and closes
 * in turn, merged and ascending. Empty for a schedule without entries, which is always open;
 * [10080] for one whose entries have no times, which is never open. A range that ends before it
 * begins crosses midnight.
 */
export function openMinutes(schedule: readonly ScheduleEntry[]): number[] {
  if (schedule.length === 0) return [];
  const spans = schedule
    .flatMap(({ day, times }) => times.flatMap((time) => weekSpans(day, time)))
    .sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [open, close] of spans) {
    const last = merged.at(-1);
    if (last && open <= last[1]) last[1] = Math.max(last[1], close);
    else merged.push([open, close]);
  }
  return merged.length === 0 ? [WEEK] : merged.flat();
}

function weekSpans(day: number, time: string): [number, number][] {
  const range = parseRange(time);
  if (!range) throw new Error(`not a time range: ${time}`);
  const [from, to] = range;
  const open = day * DAY + from;
  const close = open + (to < from ? DAY : 0) + (to - from) + 1;
  return close <= WEEK
    ? [[open, close]]
    : [
        [open, WEEK],
        [0, close - WEEK],
      ];
}

/** Tests a minute of the week against openMinutes(). Twin of is_open() in SQL. */
export function isOpenAt(openMinutes: readonly number[], minuteOfWeek: number): boolean {
  if (openMinutes.length === 0) return true;
  return openMinutes.filter((boundary) => boundary <= minuteOfWeek).length % 2 === 1;
}
