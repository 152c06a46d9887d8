import { nextContact } from '../../../platform/time/contact-hours';
import { isOpenAt } from '../../../platform/time/opening-hours';
import { minuteOfWeek } from '../../../platform/time/zone';
import type { Candidate } from './candidate';
import { localTime, type Fault } from './reasons';

type BusinessHours = Candidate['business_hours'];

const ALL_DAY = [0, 1_439] as const;

/** Business hours are cached for many calls; closed hours stay closed until they open. */
const closedUntil = new WeakMap<
  BusinessHours,
  { zone: string; from: number; opens: number; fault: Fault }
>();

/** The reason why a buyer with these hours takes no call now; undefined when it is open. */
export function hoursFault(hours: BusinessHours, zone: string, now: Date): Fault | undefined {
  if (hours.length === 0) return undefined;
  const minute = minuteOfWeek(zone, now);
  if (hours.some((open) => isOpenAt(open, minute))) return undefined;
  const cachedClosure = closedUntil.get(hours);
  if (
    cachedClosure &&
    cachedClosure.zone === zone &&
    now.getTime() >= cachedClosure.from &&
    now.getTime() < cachedClosure.opens
  )
    return cachedClosure.fault;
  const opens = Math.min(...hours.map((open) => nextOpening(open, zone, now)));
  const fault = closedFault(opens, zone);
  closedUntil.set(hours, {
    zone,
    from: now.getTime(),
    // The search ends after two weeks: search again in a minute.
    opens: opens === Infinity ? now.getTime() + 60_000 : opens,
    fault,
  });
  return fault;
}

function closedFault(opens: number, zone: string): Fault {
  if (opens === Infinity)
    return {
      reason: 'closed',
      message: 'the buyer is closed for the next 14 days at least',
      details: { opens_at: null },
    };
  const opensAt = new Date(opens);
  return {
    reason: 'closed',
    message: `the buyer is closed until ${localTime(opensAt, zone)}`,
    details: { opens_at: opensAt.toISOString() },
  };
}

const nextOpening = (businessOpen: readonly number[], businessZone: string, now: Date): number =>
  nextContact(
    { daylight: ALL_DAY, business_open: businessOpen, business_zone: businessZone },
    [],
    now,
  )?.at.getTime() ?? Infinity;
