import { nextContact } from '../schedules/contact-hours';
import { offsetAt } from '../schedules/zone';
import { compileFilter } from '../tokens/filters';
import type { TokenSource } from '../tokens/substitute';
import { CAPS, type Interval, type Metric } from './caps';

/** Of several the first is told, in this order. */
export type Reason = 'paused' | 'group_paused' | 'closed' | 'suppressed' | 'filter_unmet' | 'cap_reached' | 'concurrency_full' | 'no_number';

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
  display_caller_id_type: 'display_caller_id' | 'display_fake_caller_id';
  route_by_type: 'tier' | 'revenue' | 'epc';
  /** Of its current conversion, dollars; null without one. */
  current_conversion_revenue: number | null;
  epc_assumed_amount: number | null;
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

export interface Facts {
  now: Date;
  tokens: TokenSource;
}

export interface Eligibility {
  buyer_id: number;
  name: string | null;
  available: boolean;
  reason: Reason | null;
  message: string | null;
}

interface Fault {
  reason: Reason;
  message: string;
}

/** Whether a buyer could take a call now, and if not the first reason. */
export function eligibility(candidate: Candidate, facts: Facts): Eligibility {
  const found = [capFault(candidate, 'the buyer'), wayFault(candidate)];
  const capOrWay = (reason: Reason) => found.find((fault) => fault?.reason === reason);
  const fault =
    pauseFault(candidate, 'paused', 'the buyer') ??
    capOrWay('group_paused') ??
    closedFault(candidate, facts.now) ??
    suppressedFault(candidate) ??
    filterFault(candidate, facts.tokens) ??
    capOrWay('cap_reached') ??
    capOrWay('concurrency_full') ??
    numberFault(candidate);
  return { buyer_id: candidate.id, name: candidate.name, available: !fault, reason: fault?.reason ?? null, message: fault?.message ?? null };
}

/** Those that could take a call now, in the order in which they are tried: the lowest tier first, in it the highest weight, then the oldest. */
export function availableInOrder(candidates: readonly Candidate[], facts: Facts): Candidate[] {
  return candidates
    .filter((candidate) => eligibility(candidate, facts).available)
    .map((candidate) => ({ candidate, place: placeOf(candidate) }))
    .toSorted((a, b) => byPlace(a.place, b.place) || a.candidate.id - b.candidate.id)
    .map(({ candidate }) => candidate);
}

interface Place {
  tier: number;
  weight: number;
}

const byPlace = (a: Place, b: Place) => a.tier - b.tier || b.weight - a.weight;

/** A group that rings all its members at once is chosen as one, by its own tier and weight. Where several ways are open the best counts. */
function placeOf(candidate: Candidate): Place {
  const own = { tier: tierOf(candidate), weight: candidate.weight };
  const open = candidate.groups.filter((group) => !groupFault(group));
  const through = open.map((group) => (group.dial_buyers_type === 'simultaneously' ? group : own));
  return [...(candidate.direct ? [own] : []), ...through].toSorted(byPlace)[0] ?? own;
}

function tierOf({ route_by_type, tier, current_conversion_revenue, epc_assumed_amount }: Candidate): number {
  switch (route_by_type) {
    case 'tier':
      return tier;
    case 'revenue':
      return 0 - (current_conversion_revenue ?? 0);
    case 'epc':
      // No call is kept with its buyer and revenue yet, so that what is assumed until there are enough stands in for all of them.
      return 0 - (epc_assumed_amount ?? 0);
  }
}

/** What is wrong with the groups, when they leave no way from the offer to the buyer: one that is open is enough. */
function wayFault({ direct, groups }: Candidate): Fault | undefined {
  const faults = groups.map(groupFault).filter((fault) => fault !== undefined);
  if (direct || faults.length < groups.length) return undefined;
  const reason = (['group_paused', 'cap_reached'] as const).find((each) => faults.some((fault) => fault.reason === each)) ?? 'concurrency_full';
  return { reason, message: faults.map(({ message }) => message).join('; ') };
}

function groupFault(group: CandidateGroup): Fault | undefined {
  const who = group.name ? `its group "${group.name}" (${group.id})` : `its group ${group.id}`;
  return pauseFault(group, 'group_paused', who) ?? capFault(group, who);
}

function pauseFault({ paused }: Owner, reason: Reason, who: string): Fault | undefined {
  return paused ? { reason, message: `${who} is paused` } : undefined;
}

const ALL_DAY = [0, 1_439] as const;

function closedFault({ business_hours, zone }: Candidate, now: Date): Fault | undefined {
  if (business_hours.length === 0) return undefined;
  let opens = Infinity;
  for (const business_open of business_hours) {
    const opening = nextContact({ daylight: ALL_DAY, business_open, business_zone: zone }, [], now);
    if (opening && !opening.shifted_by) return undefined;
    if (opening) opens = Math.min(opens, opening.at.getTime());
  }
  const until = opens === Infinity ? 'for the next 14 days at least' : `until ${localTime(new Date(opens), zone)}`;
  return { reason: 'closed', message: `the buyer is closed ${until}` };
}

function suppressedFault({ suppressed_by }: Candidate): Fault | undefined {
  if (suppressed_by.length === 0) return undefined;
  const lists = suppressed_by.map(({ id, name }) => `"${name}" (${id})`).join(', ');
  return { reason: 'suppressed', message: `the caller's number is on a suppression list of the buyer: ${lists}` };
}

function numberFault({ number }: Candidate): Fault | undefined {
  return number?.trim() ? undefined : { reason: 'no_number', message: 'the buyer has no number' };
}

/** A regular expression takes far longer to compile than to match, and candidates of a batch share their filters. */
const compiled = new WeakMap<readonly string[], ReturnType<typeof compileFilter>[]>();

function filterFault({ record_token_filter_list: filters }: Candidate, tokens: TokenSource): Fault | undefined {
  const conditions = compiled.get(filters) ?? filters.map(compileFilter);
  compiled.set(filters, conditions);
  const unmet = conditions.findIndex((holds) => !holds?.(tokens));
  return unmet === -1 ? undefined : { reason: 'filter_unmet', message: `a filter of the buyer does not hold: ${filters[unmet]}` };
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
  const named = CAPS.find(({ metric, interval }) => `${metric}_${interval}` === cap);
  if (!named) return { reason: 'concurrency_full', message: `${who} has ${used} of ${limit} simultaneous calls` };
  const which = `the ${named.interval} cap on ${COUNTED[named.metric]} of ${who}`;
  if (limit === 0) return { reason: 'cap_reached', message: `${which} allows none` };
  const money = named.metric === 'revenue' || named.metric === 'earned_revenue';
  const amounts = [used, limit].map((amount) => (money ? `$${amount.toFixed(2)}` : amount)).join(' of ');
  const resets = resets_at ? `resets at ${localTime(resets_at, zone)}` : 'stays so until it is reset';
  return { reason: 'cap_reached', message: `${which} is reached (${amounts}) and ${resets}` };
}

function localTime(at: Date, zone: string): string {
  const local = new Date(at.getTime() + offsetAt(zone, at)).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 16)} ${zone}`;
}
