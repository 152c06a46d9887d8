import { useId } from 'preact/hooks';
import { currentZone, fromLocalInput, toDay } from '../zone';

// Periods as people name them, in the zone of the console.

const DAY_MS = 86_400_000;

export interface Period {
  from: string;
  to: string;
}

/** Days are moved at noon, so that no change of the clock moves them to another day. */
export function moveDay(day: string, days: number): string {
  return new Date(Date.parse(`${day}T12:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

const firstOfMonth = (day: string): string => `${day.slice(0, 7)}-01`;

/** First day, and the day after the last. */
type Days = readonly [first: string, after: string];

export const PERIODS: Readonly<Record<string, { title: string; days: (today: string) => Days }>> = {
  today: { title: 'Today', days: (today) => [today, moveDay(today, 1)] },
  yesterday: { title: 'Yesterday', days: (today) => [moveDay(today, -1), today] },
  last_7_days: { title: 'Last 7 days', days: (today) => [moveDay(today, -6), moveDay(today, 1)] },
  last_30_days: {
    title: 'Last 30 days',
    days: (today) => [moveDay(today, -29), moveDay(today, 1)],
  },
  this_month: {
    title: 'This month',
    days: (today) => [firstOfMonth(today), firstOfMonth(moveDay(firstOfMonth(today), 32))],
  },
  last_month: {
    title: 'Last month',
    days: (today) => [firstOfMonth(moveDay(firstOfMonth(today), -1)), firstOfMonth(today)],
  },
};

const findStart = (day: string, zone = currentZone()): string =>
  fromLocalInput(`${day}T00:00`, zone).toISOString();

/** The instants of a named period; the end is the last moment before the next. */
export function toPeriod(name: string, zone?: string): Period | undefined {
  const days = PERIODS[name]?.days(toDay(new Date(), zone));
  return days && fromDays(days, zone);
}

const fromDays = ([first, after]: Days, zone?: string): Period => ({
  from: findStart(first, zone),
  to: new Date(Date.parse(findStart(after, zone)) - 1).toISOString(),
});

/** The instants of whole days, both included. */
export const fromDayInputs = (first: string, last: string, zone?: string): Period =>
  fromDays([first, moveDay(last, 1)], zone);

interface PeriodChoiceProps {
  filters: Readonly<Record<string, string>>;
  change: (changes: Readonly<Record<string, string | null>>) => void;
  /** All of time is no choice. */
  isRequired?: boolean;
  /** The zone of the days, where it is not that of the console. */
  zone?: string;
}

/** A period by name, or from one day to another. */
export function PeriodChoice({ filters, change, isRequired = false, ...props }: PeriodChoiceProps) {
  const { zone = currentZone() } = props;
  const id = useId();
  const { created_at_from: from, created_at_to: to } = filters;
  const named = Object.keys(PERIODS).find((name) => {
    const period = toPeriod(name, zone);
    return period?.from === from && period?.to === to;
  });
  const choose = (period: Partial<Period> | undefined) =>
    change({ created_at_from: period?.from ?? null, created_at_to: period?.to ?? null });
  const firstDay = from === undefined ? '' : toDay(new Date(from), zone);
  const lastDay = to === undefined ? '' : toDay(new Date(to), zone);
  const changeDays = (first: string, last: string) =>
    choose({
      ...(first !== '' && { from: findStart(first, zone) }),
      ...(last !== '' && { to: fromDayInputs(last, last, zone).to }),
    });
  return (
    <>
      <div class="field">
        <label for={id}>Period</label>
        <select
          id={id}
          value={named ?? (from || to ? 'days' : '')}
          onChange={(event) => {
            const { value } = event.currentTarget;
            if (value !== 'days') choose(toPeriod(value, zone));
          }}
        >
          {!isRequired && <option value="">Any time</option>}
          {Object.entries(PERIODS).map(([name, { title }]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
          <option value="days">From day to day</option>
        </select>
      </div>
      <div class="field">
        <label for={`${id}-from`}>From ({zone})</label>
        <input
          id={`${id}-from`}
          type="date"
          value={firstDay}
          onChange={(event) => changeDays(event.currentTarget.value, lastDay)}
        />
      </div>
      <div class="field">
        <label for={`${id}-to`}>To, inclusive</label>
        <input
          id={`${id}-to`}
          type="date"
          value={lastDay}
          onChange={(event) => changeDays(firstDay, event.currentTarget.value)}
        />
      </div>
    </>
  );
}
