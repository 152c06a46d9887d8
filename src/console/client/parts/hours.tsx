import { DAY_MINUTES, DAYS, isAlways, formatTimes, toWeek, type Entry, type Open } from './week';

export function Hours({ entries, zone }: { entries: readonly Entry[]; zone: string | undefined }) {
  if (isAlways(entries)) return <p>Always open.</p>;
  return (
    <>
      <table class="week">
        <caption class="hidden">Opening hours of a week</caption>
        <tbody>
          {toWeek(entries).map((open, day) => (
            <tr key={day}>
              <th scope="row">{DAYS[day]!.slice(0, 3)}</th>
              <td>
                <Line open={open} />
              </td>
              <td>{formatTimes(open) || 'closed'}</td>
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
