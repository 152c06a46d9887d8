import { nextContact } from '../../time/contact-hours';
import { isOpenAt } from '../../time/opening-hours';
import { minuteOfWeek, offsetAt } from '../../time/zone';
import { compileFilter } from '../../tokens/filters';
import type { TokenSource } from '../../tokens/substitute';
import { CAPS, type Interval, type Metric } from '../../buyers/caps';

/** Of several the first is told, in this order. */
export const REASONS = [
  'blacklisted',
  'offer_paused',
  'offer_suppressed',
  'already_tried',
  'not_previous_buyer',
  'paused',
  'group_paused',
  'closed',
  'suppressed',
  'filter_unmet',
  'cap_reached',
  'concurrency_full',
  'duplicate_caller',
  'spacing',
  'no_number',
  'vetoed',
] as const;
export type Reason = (typeof REASONS)[number];

export type CapName = `${Metric}_${Interval}` | 'concurrency';

/** The cap that keeps its owner from calls: of several that are used up, the one that frees last. */
export interface UsedUpCap {
  cap: CapName;
  used: number;
  limit: number;
  /** Null when it does not free by itself. */
  resets_at: Date | null;
}

interface Owner {
  id: number;
  name: string | null;
  paused: boolean;
  tier: number;
  weight: number;
  /** IANA name. */
  zone: string;
  used_up: UsedUpCap | null;
}

/** A group through which a buyer comes to an offer. */
export interface CandidateGroup extends Owner {
  dial_buyers_type: 'sequentially' | 'simultaneously';
}

/** All that is known of a buyer when a call for an offer looks for one. */
export interface Candidate extends Owner {
  /** + and digits, or sip: and an address. */
  number: string | null;
  /** As written; `zone` is what it means. */
  time_zone: string;
  buyer_type: 'buyer' | 'quality_assurance' | 'voice_bot';
  buyer_fleet_id: number | null;
  timeout_seconds: number;
  dtmf_tones: string | null;
  press_one_to_accept: boolean;
  record_calls: boolean;
  display_caller_id_type:
    'display_caller_id' | 'display_fake_caller_id' | 'display_service_number_id';
  /** + and digits. */
  display_service_number: string | null;
  user_buyer_id: string | null;
  /** Tokens that calls to it get, as key:value. */
  record_token_additional_data: readonly string[];
  route_by_type: 'tier' | 'revenue' | 'epc';
  /** Of its current conversion, dollars; null without one. */
  current_conversion_revenue: number | null;
  /** The most it pays for a call by one of its conversions now, dollars. */
  most_revenue: number;
  /** Whether one of its conversions now is that it is dialed at all. */
  pays_at_dial: boolean;
  /** Dollars a call brought in the hours that count; what is assumed until there were calls enough. */
  epc: number | null;
  /** When it was last dialed for any call. */
  last_call_at: Date | null;
  /** Open minutes of each entry of its business hours (openMinutes of schedules/hours.ts). Without entries it is always open. */
  business_hours: readonly (readonly number[])[];
  record_token_filter_list: readonly string[];
  /** Its suppression lists that hold the caller's number. */
  suppressed_by: readonly { id: number; name: string }[];
  /** Whether it is on the offer itself. */
  direct: boolean;
  /** Groups on the offer that it is in. */
  groups: readonly CandidateGroup[];
}

/**
 * A candidate, or a copy of one with changes. Written out, so that all have one shape: of objects that were read or spread the engine makes many, and to
 * look at a thousand of these takes a hundred times longer.
 */
export const candidateOf = (
  known: Candidate,
  more: Partial<
    Pick<Candidate, 'used_up' | 'epc' | 'last_call_at' | 'suppressed_by' | 'groups'>
  > = {},
): Candidate => {
  const {
    used_up = known.used_up,
    epc = known.epc,
    last_call_at = known.last_call_at,
    suppressed_by = known.suppressed_by,
    groups = known.groups,
  } = more;
  return {
    id: known.id,
    name: known.name,
    paused: known.paused,
    tier: known.tier,
    weight: known.weight,
    zone: known.zone,
    used_up,
    number: known.number,
    time_zone: known.time_zone,
    buyer_type: known.buyer_type,
    buyer_fleet_id: known.buyer_fleet_id,
    timeout_seconds: known.timeout_seconds,
    dtmf_tones: known.dtmf_tones,
    press_one_to_accept: known.press_one_to_accept,
    record_calls: known.record_calls,
    display_caller_id_type: known.display_caller_id_type,
    display_service_number: known.display_service_number,
    user_buyer_id: known.user_buyer_id,
    record_token_additional_data: known.record_token_additional_data,
    route_by_type: known.route_by_type,
    current_conversion_revenue: known.current_conversion_revenue,
    most_revenue: known.most_revenue,
    pays_at_dial: known.pays_at_dial,
    epc,
    last_call_at,
    business_hours: known.business_hours,
    record_token_filter_list: known.record_token_filter_list,
    suppressed_by,
    direct: known.direct,
    groups,
  };
};

/** The same of a group. */
export const groupOf = (
  { id, name, paused, tier, weight, zone, dial_buyers_type }: Omit<CandidateGroup, 'used_up'>,
  used_up: UsedUpCap | null,
): CandidateGroup => ({
  id,
  name,
  paused,
  tier,
  weight,
  zone,
  used_up,
  dial_buyers_type,
});

/** What keeps a call from all buyers. */
export interface Refused {
  reason: 'blacklisted' | 'offer_paused' | 'offer_suppressed';
  message: string;
}

export interface Facts {
  now: Date;
  tokens: TokenSource;
  refused?: Refused | undefined;
  /** Buyers that the call was tried with before: none is rung again. */
  tried?: ReadonlySet<number>;
  /** Buyers that the call was promised to, and that have its caps taken up: only what keeps it from all of them, or having no number, keeps it from these. */
  promised?: ReadonlySet<number>;
  /** The one it must go to, if it goes to any. */
  only_buyer_id?: number | undefined;
  /** When a buyer would pay again for this caller; of those that would now, nothing. */
  pays_again_at?: ReadonlyMap<number, Date>;
  /** Least time between two calls to a buyer. */
  spacing_seconds?: number;
  /** Buyers that somebody who is asked before they are dialed has said no of; null for those that may be. */
  vetoed?: ReadonlyMap<number, Veto | null> | undefined;
}

/** That a buyer is not to be dialed, by whom and why. */
export interface Veto {
  outgoing_webhook_id: number;
  reason: string;
}

export interface Eligibility {
  buyer_id: number;
  name: string | null;
  available: boolean;
  reason: Reason | null;
  message: string | null;
  /** What the reason is made of, for programs. */
  details: Record<string, unknown> | null;
}

export interface Fault {
  reason: Reason;
  message: string;
  details?: Record<string, unknown> | null;
}

/** Whether a buyer could take a call now, and if not the first reason. */
export function eligibility(candidate: Candidate, facts: Facts): Eligibility {
  const {
    reason = null,
    message = null,
    details = null,
  } = (judgeOf(facts)(candidate) ?? {}) as Partial<Fault>;
  return {
    buyer_id: candidate.id,
    name: candidate.name,
    available: reason === null,
    reason,
    message,
    details,
  };
}

/** Tells of one buyer after another the first reason why it cannot take a call now; undefined when it can. What many have in common is judged once. */
export function judgeOf(facts: Facts): (candidate: Candidate) => Fault | undefined {
  const { refused, tried, only_buyer_id, promised, tokens, now } = facts;
  const filter = once((filters: Candidate['record_token_filter_list']) =>
    filterFault(filters, tokens),
  );
  const hours = new Map<string, (open: Candidate['business_hours']) => Fault | undefined>();
  const closed = ({ business_hours, zone }: Candidate) => {
    const of_zone =
      hours.get(zone) ?? once((open: Candidate['business_hours']) => closedFault(open, zone, now));
    hours.set(zone, of_zone);
    return of_zone(business_hours);
  };
  /** What is wrong with a buyer itself, and with the ways to it. */
  const ownFault = (candidate: Candidate): Fault | undefined => {
    if (candidate.paused) return pauseFault('paused', 'the buyer');
    const way = wayFault(candidate);
    if (way?.reason === 'group_paused') return way;
    return (
      closed(candidate) ??
      suppressedFault(candidate) ??
      filter(candidate.record_token_filter_list) ??
      fullFault(candidate.used_up && capFault(candidate, 'the buyer'), way) ??
      duplicateFault(candidate, facts) ??
      spacingFault(candidate, facts)
    );
  };
  if (refused) return () => refused;
  const is_any = only_buyer_id === undefined && !tried?.size;
  return (candidate) =>
    (is_any ? undefined : callFault(candidate, facts)) ??
    (promised?.has(candidate.id) ? undefined : ownFault(candidate)) ??
    numberFault(candidate) ??
    vetoFault(candidate, facts);
}

/** The same argument is answered the same again without being looked at. */
function once<Argument extends object, Result>(
  work: (argument: Argument) => Result,
): (argument: Argument) => Result {
  let last: Argument | undefined;
  let answer: Result;
  const known = new Map<Argument, Result>();
  return (argument) => {
    if (argument === last) return answer;
    last = argument;
    answer = known.has(argument) ? known.get(argument)! : work(argument);
    known.set(argument, answer);
    return answer;
  };
}

/** A cap that is reached is told before one of simultaneous calls, the buyer's own before those of its groups. */
const fullFault = (own: Fault | null | undefined, way: Fault | undefined): Fault | undefined =>
  own?.reason !== 'cap_reached' && way?.reason === 'cap_reached' ? way : (own ?? way);

/** Whether a way through a group is open. */
export const isOpenGroup = ({ paused, used_up }: CandidateGroup): boolean =>
  !paused && used_up === null;

/** What is wrong with the groups, when they leave no way from the offer to the buyer: one that is open is enough. */
function wayFault({ direct, groups }: Candidate): Fault | undefined {
  if (direct || groups.some(isOpenGroup)) return undefined;
  const faults = groups.map(groupFault).filter((fault) => fault !== undefined);
  const reason =
    (['group_paused', 'cap_reached'] as const).find((each) =>
      faults.some((fault) => fault.reason === each),
    ) ?? 'concurrency_full';
  return { reason, message: faults.map(({ message }) => message).join('; ') };
}

/** What keeps a group from calls. */
function groupFault(group: CandidateGroup): Fault | undefined {
  const who = group.name ? `its group "${group.name}" (${group.id})` : `its group ${group.id}`;
  return group.paused ? pauseFault('group_paused', who) : capFault(group, who);
}

const pauseFault = (reason: Reason, who: string): Fault => ({
  reason,
  message: `${who} is paused`,
});

function callFault({ id }: Candidate, { tried, only_buyer_id }: Facts): Fault | undefined {
  if (tried?.has(id))
    return { reason: 'already_tried', message: 'the call was tried with the buyer before' };
  if (only_buyer_id === undefined || only_buyer_id === id) return undefined;
  const details = { previous_buyer_id: only_buyer_id };
  return {
    reason: 'not_previous_buyer',
    message: `the offer sends who calls back to the buyer before, ${only_buyer_id}`,
    details,
  };
}

const ALL_DAY = [0, 1_439] as const;

/** What was found out about hours that stand in memory for many calls: until they open, they stay closed. */
const closed = new WeakMap<
  Candidate['business_hours'],
  { zone: string; from: number; opens: number; fault: Fault }
>();

function closedFault(
  business_hours: Candidate['business_hours'],
  zone: string,
  now: Date,
): Fault | undefined {
  if (business_hours.length === 0) return undefined;
  const minute = minuteOfWeek(zone, now);
  if (business_hours.some((open) => isOpenAt(open, minute))) return undefined;
  const known = closed.get(business_hours);
  if (known && known.zone === zone && now.getTime() >= known.from && now.getTime() < known.opens)
    return known.fault;
  const opens = Math.min(...business_hours.map((open) => nextOpening(open, zone, now)));
  const until =
    opens === Infinity
      ? 'for the next 14 days at least'
      : `until ${localTime(new Date(opens), zone)}`;
  const fault: Fault = {
    reason: 'closed',
    message: `the buyer is closed ${until}`,
    details: { opens_at: opens === Infinity ? null : new Date(opens).toISOString() },
  };
  // Beyond two weeks nobody has looked: that is looked at again.
  closed.set(business_hours, {
    zone,
    from: now.getTime(),
    opens: opens === Infinity ? now.getTime() + 60_000 : opens,
    fault,
  });
  return fault;
}

const nextOpening = (business_open: readonly number[], business_zone: string, now: Date): number =>
  nextContact({ daylight: ALL_DAY, business_open, business_zone }, [], now)?.at.getTime() ??
  Infinity;

function suppressedFault({ suppressed_by }: Candidate): Fault | undefined {
  if (suppressed_by.length === 0) return undefined;
  const lists = suppressed_by.map(({ id, name }) => `"${name}" (${id})`).join(', ');
  const details = { buyer_suppression_ids: suppressed_by.map(({ id }) => id) };
  return {
    reason: 'suppressed',
    message: `the caller's number is on a suppression list of the buyer: ${lists}`,
    details,
  };
}

function duplicateFault({ id, zone }: Candidate, { pays_again_at }: Facts): Fault | undefined {
  const at = pays_again_at?.size ? pays_again_at.get(id) : undefined;
  const message =
    at && `the buyer has paid for this caller, and pays again from ${localTime(at, zone)}`;
  return message
    ? { reason: 'duplicate_caller', message, details: { pays_again_at: at.toISOString() } }
    : undefined;
}

function spacingFault(
  { last_call_at, zone }: Candidate,
  { now, spacing_seconds = 0 }: Facts,
): Fault | undefined {
  if (spacing_seconds === 0 || !last_call_at) return undefined;
  const at = new Date(last_call_at.getTime() + spacing_seconds * 1000);
  if (at <= now) return undefined;
  const message = `the offer gives a buyer one call in ${spacing_seconds} seconds: the next at ${localTime(at, zone)}`;
  return { reason: 'spacing', message, details: { next_call_at: at.toISOString() } };
}

function numberFault({ number }: Candidate): Fault | undefined {
  return number?.trim() ? undefined : { reason: 'no_number', message: 'the buyer has no number' };
}

function vetoFault({ id }: Candidate, { vetoed }: Facts): Fault | undefined {
  const veto = vetoed?.size ? vetoed.get(id) : undefined;
  if (!veto) return undefined;
  const { outgoing_webhook_id, reason } = veto;
  return {
    reason: 'vetoed',
    message: `the webhook ${outgoing_webhook_id} says no: ${reason}`,
    details: { outgoing_webhook_id, veto: reason },
  };
}

/** A regular expression takes far longer to compile than to match, and candidates of a batch share their filters. */
const compiled = new WeakMap<readonly string[], ReturnType<typeof compileFilter>[]>();

function filterFault(
  filters: Candidate['record_token_filter_list'],
  tokens: TokenSource,
): Fault | undefined {
  const conditions = compiled.get(filters) ?? filters.map(compileFilter);
  compiled.set(filters, conditions);
  const unmet = conditions.findIndex((holds) => !holds?.(tokens));
  return unmet === -1
    ? undefined
    : {
        reason: 'filter_unmet',
        message: `a filter of the buyer does not hold: ${filters[unmet]}`,
        details: { filter: filters[unmet] },
      };
}

const COUNTED: Record<Metric, string> = {
  attempt: 'attempts',
  buyer_conversion: 'conversions',
  connection: 'connections',
  earned_revenue: 'earned revenue',
  revenue: 'revenue',
};

function capFault({ used_up, zone }: Owner, who: string): Fault | undefined {
  if (!used_up) return undefined;
  const { cap, used, limit, resets_at } = used_up;
  const details = { cap, used, limit, resets_at: resets_at?.toISOString() ?? null };
  const named = CAPS.find(({ metric, interval }) => `${metric}_${interval}` === cap);
  if (!named)
    return {
      reason: 'concurrency_full',
      message: `${who} has ${used} of ${limit} simultaneous calls`,
      details,
    };
  const which = `the ${named.interval} cap on ${COUNTED[named.metric]} of ${who}`;
  if (limit === 0) return { reason: 'cap_reached', message: `${which} allows none`, details };
  const money = named.metric === 'revenue' || named.metric === 'earned_revenue';
  const amounts = [used, limit]
    .map((amount) => (money ? `$${amount.toFixed(2)}` : amount))
    .join(' of ');
  if (money && used < limit)
    return {
      reason: 'cap_reached',
      message: `${which} has $${(limit - used).toFixed(2)} of $${limit.toFixed(2)} left, less than a call may bring`,
      details,
    };
  const resets = resets_at
    ? `resets at ${localTime(resets_at, zone)}`
    : 'stays so until it is reset';
  return {
    reason: 'cap_reached',
    message: `${which} is reached (${amounts}) and ${resets}`,
    details,
  };
}

function localTime(at: Date, zone: string): string {
  const local = new Date(at.getTime() + offsetAt(zone, at)).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 16)} ${zone}`;
}
