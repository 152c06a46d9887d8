import { day, dayTime } from '../../format';
import type { Json } from '../../transport';
import { toLocalInput } from '../../zone';

/** `Nov 1, 2026 to Nov 30, 2026`: with times where it is not of whole days in its zone. */
export function describePeriod(record: Json): string {
  const [from, to] = [new Date(String(record.period_from)), new Date(String(record.period_to))];
  const zone = String(record.time_zone);
  const isWhole = [from, to].every((at) => toLocalInput(at, zone).endsWith('T00:00'));
  if (!isWhole) return `${dayTime(from.toISOString())} to ${dayTime(to.toISOString())}`;
  const last = new Date(to.getTime() - 1);
  const [first, final] = [from, last].map((at) => day(toLocalInput(at, zone).slice(0, 10)));
  return first === final ? first! : `${first} to ${final}`;
}
