import { isOpenAt } from './opening-hours';
import { offsetAt } from './zone';

const MINUTE_MS = 60_000;
const DAY = 1_440;
const DAY_MS = DAY * MINUTE_MS;
const WEEK = 7 * DAY;
/** The epoch was a Thursday; weeks begin on Sunday. */
const EPOCH_MINUTE_OF_WEEK = 4 * DAY;
const SEARCHED_MS = 14 * DAY_MS;

export interface ContactHours {
  /**
   * Minutes of the day, the last included, in every zone of the lead: [480, 1259] is 08:00..20:59.
   * Crosses midnight when from > to.
   */
  daylight: readonly [from: number, to: number];
  /** openMinutes() of the business hours, in `business_zone`; empty: always open. */
  business_open: readonly number[];
  /** IANA name. */
  business_zone: string;
}

export type Shift = 'daylight_hours' | 'business_hours';

export interface ContactTime {
  at: Date;
  /** The rule that postponed it; absent when the requested moment is allowed. */
  shifted_by?: Shift;
}

/** One clock that must allow contact. */
interface Rule {
  zone: string;
  shift: Shift;
  /** Takes the local time in minutes since the epoch; 0 when open, else minutes it stays closed. */
  wait: (localMinute: number) => number;
}

/**
 * The first moment not before `from` at which it is daylight in all `zones` and the business is
 * open: `from` itself or the start of a minute. Undefined when there is none within 14 days.
 */
export function nextContact(
  hours: ContactHours,
  zones: readonly string[],
  from: Date,
): ContactTime | undefined {
  const rules = buildRules(hours, zones);
  const start = from.getTime();
  const closed = rules.find(
    (rule) => rule.wait(localMinute(start, requireOffset(rule.zone, start))) > 0,
  );
  if (!closed) return { at: from };
  const at = findFirstOpen(rules, start, start + SEARCHED_MS);
  return at === undefined ? undefined : { at: new Date(at), shifted_by: closed.shift };
}

/**
 * Daylight comes first: it is the reason that is given when both are closed. Rules that are always
 * open are left out, because computing local times is the expensive part.
 */
function buildRules(hours: ContactHours, zones: readonly string[]): Rule[] {
  const [from, to] = hours.daylight;
  const last = modulo(to - from, DAY);
  const toDaylight = (minute: number) => {
    const since = modulo(minute - from, DAY);
    return since <= last ? 0 : DAY - since;
  };
  const rules: Rule[] =
    last === DAY - 1
      ? []
      : zones.map((zone) => ({ zone, shift: 'daylight_hours', wait: toDaylight }));
  if (hours.business_open.length > 0) {
    rules.push({
      zone: hours.business_zone,
      shift: 'business_hours',
      wait: (minute) => toBusiness(hours.business_open, minute),
    });
  }
  return rules;
}

/** Minutes to the next opening, or to the end of the week, when it may still be closed. */
function toBusiness(openMinutes: readonly number[], localMinute: number): number {
  const minute = modulo(localMinute + EPOCH_MINUTE_OF_WEEK, WEEK);
  if (isOpenAt(openMinutes, minute)) return 0;
  return (openMinutes.find((boundary) => boundary > minute) ?? WEEK) - minute;
}

/**
 * Searches in stretches of at most a day in which no zone changes its offset: within one, local
 * times are sums.
 */
function findFirstOpen(rules: readonly Rule[], start: number, end: number): number | undefined {
  let offsets = rules.map((rule) => requireOffset(rule.zone, start));
  for (let from = start; from < end;) {
    const until = Math.min(from + DAY_MS, end);
    const later = rules.map((rule) => requireOffset(rule.zone, until));
    const changes = rules.map((rule, n) =>
      later[n] === offsets[n] ? until : findChange(rule.zone, from, until),
    );
    const to = Math.min(...changes);
    const opening = findOpenAtFixedOffsets(rules, offsets, from, to);
    if (opening !== undefined) return opening;
    offsets = to === until ? later : rules.map((rule) => requireOffset(rule.zone, to));
    from = to;
  }
  return undefined;
}

/** Advances to the next opening of each closed rule until all are open. */
function findOpenAtFixedOffsets(
  rules: readonly Rule[],
  offsets: readonly number[],
  from: number,
  to: number,
): number | undefined {
  for (let at = from; at < to;) {
    let next = at;
    for (const [n, { wait }] of rules.entries()) {
      const minutes = wait(localMinute(next, offsets[n]!));
      if (minutes > 0) next = (localMinute(next, offsets[n]!) + minutes) * MINUTE_MS - offsets[n]!;
    }
    if (next === at) return at;
    at = next;
  }
  return undefined;
}

/** The instant after `from`, at most `until`, from which the zone has another offset. */
function findChange(zone: string, from: number, until: number): number {
  const before = requireOffset(zone, from);
  let [same, changed] = [from, until];
  while (changed - same > 1) {
    const middle = Math.floor((same + changed) / 2);
    if (requireOffset(zone, middle) === before) same = middle;
    else changed = middle;
  }
  return changed;
}

/** Throws for an unknown zone, whose NaN every comparison would take for daylight. */
function requireOffset(zone: string, instant: number): number {
  const offset = offsetAt(zone, new Date(instant));
  if (Number.isNaN(offset)) throw new RangeError(`no time in zone ${zone} at ${instant}`);
  return offset;
}

function localMinute(instant: number, offsetMs: number): number {
  return Math.floor((instant + offsetMs) / MINUTE_MS);
}

function modulo(n: number, size: number): number {
  return ((n % size) + size) % size;
}
