import { useId } from 'preact/hooks';
import { currentZone, fromLocalInput, toDay } from '../zone';

// Periods as people name them, in the zone of the console.

const DAY_MS = 86_400_000;

export interface Period {
  from: string;
  to: string;
}

/** Days are moved at noon, so that no change of the clock moves them to another day. */
function moveDay(day: string, days: number): string {
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

const startOf = (day: string): string => fromLocalInput(`${day}T00:00`).toISOString();

/** The instants of a named period; the end is the last moment before the next. */
export function toPeriod(name: string, now = new Date()): Period | undefined {
  const days = PERIODS[name]?.days(toDay(now));
  return days && fromDays(days);
}

const fromDays = ([first, after]: Days): Period => ({
  from: startOf(first),
  to: new Date(Date.parse(startOf(after)) - 1).toISOString(),
});

/** The instants of whole days, both included. */
export const fromDayInputs = (first: string, last: string): Period =>
  fromDays([first, moveDay(last, 1)]);

interface PeriodChoiceProps {
  filters: Readonly<Record<string, string>>;
  change: (changes: Readonly<Record<string, string | null>>) => void;
  /** All of time is no choice. */
  isRequired?: boolean;
}

/** A period by name, or from one day to another. */
export function PeriodChoice({ filters, change, isRequired = false }: PeriodChoiceProps) {
  const id = useId();
  const { created_at_from: from, created_at_to: to } = filters;
  const named = Object.keys(PERIODS).find((name) => {
    const period = toPeriod(name);
    return period?.from === from && period?.to === to;
  });
  const choose = (period: Partial<Period> | undefined) =>
    change({ created_at_from: period?.from ?? null, created_at_to: period?.to ?? null });
  const firstDay = from === undefined ? '' : toDay(new Date(from));
  const lastDay = to === undefined ? '' : toDay(new Date(to));
  const changeDays = (first: string, last: string) =>
    choose({
      ...(first !== '' && { from: startOf(first) }),
      ...(last !== '' && { to: fromDayInputs(last, last).to }),
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
            if (value !== 'days') choose(toPeriod(value));
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
        <label for={`${id}-from`}>From ({currentZone()})</label>
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
