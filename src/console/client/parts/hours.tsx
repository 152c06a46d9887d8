import type { Schemas } from '../api';

type Entry = Schemas['BusinessHours'];

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const DAY_MINUTES = 24 * 60;

interface Open {
  from: number;
  to: number;
}

const minutes = (clock: string): number => {
  const [hours = 0, minute = 0] = clock.split(':').map(Number);
  return hours * 60 + minute;
};
const clock = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

/** When it is open on each day. What goes on past midnight is part of the next day. */
function weekOf(entries: readonly Entry[]): Open[][] {
  const week: Open[][] = DAYS.map(() => []);
  for (const { day, times } of entries.flatMap(({ schedule }) => schedule ?? []))
    for (const range of times) {
      const [from, last] = range.split('..').map(minutes) as [number, number];
      // The last minute belongs to it.
      if (last >= from) week[day]!.push({ from, to: last + 1 });
      else {
        week[day]!.push({ from, to: DAY_MINUTES });
        week[(day + 1) % DAYS.length]!.push({ from: 0, to: last + 1 });
      }
    }
  return week.map((day) => day.sort((one, other) => one.from - other.from));
}

const isAlways = (entries: readonly Entry[]): boolean =>
  entries.every(({ schedule }) => (schedule ?? []).length === 0);

/** The opening hours of a week, one line for each day. */
export function Hours({ entries, zone }: { entries: readonly Entry[]; zone: string | undefined }) {
  if (isAlways(entries)) return <p>Always open.</p>;
  return (
    <>
      <table class="week">
        <caption class="hidden">Opening hours of a week</caption>
        <tbody>
          {weekOf(entries).map((open, day) => (
            <tr key={day}>
              <th scope="row">{DAYS[day]!.slice(0, 3)}</th>
              <td>
                <Line open={open} />
              </td>
              <td>
                {open.map(({ from, to }) => `${clock(from)}–${clock(to)}`).join(', ') || 'closed'}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="quiet">{zone}</p>
    </>
  );
}

const Line = ({ open }: { open: readonly Open[] }) => (
  <svg viewBox={`0 0 ${DAY_MINUTES} 60`} preserveAspectRatio="none" aria-hidden="true">
    <rect class="closed" width={DAY_MINUTES} height="60" />
    {open.map(({ from, to }) => (
      <rect key={from} class="open" x={from} width={to - from} height="60" />
    ))}
  </svg>
);
