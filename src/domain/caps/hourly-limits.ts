import type { Schemas } from '../../platform/contract/contract';
import { openMinutes } from '../../platform/time/opening-hours';
import { METRICS, type Metric } from './caps';

type Entry = Schemas['BusinessHours'];

const WEEK = 10_080;
/** Used for a buyer without business hours: always open, without hourly limits. */
const ALWAYS: Entry = { schedule: [] };

/** An hourly limit of new business hours that exceeds the present one at some minute. */
export interface RaisedLimit {
  /** Undefined when the new business hours have no entry. */
  position: number | undefined;
  metric: Metric;
  max: number;
}

/**
 * The hourly limits that new business hours raise. For minutes at which the buyer was closed, the
 * highest limit of its open hours is allowed.
 */
export function listRaisedLimits(before: readonly Entry[], after: readonly Entry[]): RaisedLimit[] {
  const [oldHours, newHours] = [before, after].map(withDefaultEntry) as [Entry[], Entry[]];
  const [oldAt, newAt] = [indexOpenEntries(oldHours), indexOpenEntries(newHours)];
  const met = new Set<string>();
  for (let minute = 0; minute < WEEK; minute++)
    if (newAt[minute]! >= 0) met.add(`${newAt[minute]}/${oldAt[minute]}`);
  const raised = new Map<string, RaisedLimit>();
  for (const pair of met) {
    const [position, old] = pair.split('/').map(Number) as [number, number];
    for (const metric of METRICS) {
      const max =
        old >= 0
          ? readLimit(oldHours[old]!, metric)
          : Math.max(...oldHours.map((entry) => readLimit(entry, metric)));
      if (readLimit(newHours[position]!, metric) <= max) continue;
      const key = `${position}/${metric}`;
      const lowest = Math.min(max, raised.get(key)?.max ?? max);
      raised.set(key, { position: after.length > 0 ? position : undefined, metric, max: lowest });
    }
  }
  return [...raised.values()];
}

const withDefaultEntry = (entries: readonly Entry[]): readonly Entry[] =>
  entries.length > 0 ? entries : [ALWAYS];

const readLimit = (entry: Entry, metric: Metric): number =>
  Number(entry[`${metric}_hourly_limit`] ?? Infinity);

/** For each minute of the week the position of the first open entry, or -1. */
function indexOpenEntries(entries: readonly Entry[]): Int16Array {
  const first = new Int16Array(WEEK).fill(-1);
  for (const [position, { schedule }] of [...entries.entries()].toReversed()) {
    const minutes = openMinutes(schedule);
    if (minutes.length === 0) first.fill(position);
    for (let n = 0; n + 1 < minutes.length; n += 2)
      first.fill(position, minutes[n], minutes[n + 1]);
  }
  return first;
}
