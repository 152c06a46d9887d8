import { isSip } from '../../../platform/sip';
import { compileFilter } from '../../../platform/tokens/filters';
import type { TokenSource } from '../../../platform/tokens/substitute';
import { bidFault, type CallBids } from './bids';
import type { Candidate } from './candidate';
import { fullFault, findPathFault } from './caps';
import { hoursFault } from './hours';
import { localTime, pauseFault, type Fault, type Reason } from './reasons';
import type { Lines } from './line';
import { trunkFault } from './trunks';
import { sourceBuyerFault, type SourceBuyers, type SourceFault } from './source';

/** A reason that keeps a call from all buyers. */
export type Refusal = CallRefusal | SourceFault;

interface CallRefusal extends Fault {
  reason: 'blacklisted' | 'offer_paused' | 'offer_suppressed';
}

export interface Facts {
  now: Date;
  tokens: TokenSource;
  refused?: Refusal | undefined;
  /** Buyers dialed for the call before: none is dialed twice. */
  tried?: ReadonlySet<number>;
  /**
   * Buyers with a reservation for the call, caps included. Only a refusal of the whole call, a key
   * press or tones that the carrier cannot do, a missing number or a veto excludes them.
   */
  reserved?: ReadonlySet<number>;
  only_buyer_id?: number | undefined;
  /** Restricts the buyers of the traffic source; absent: any buyer. */
  source_buyers?: SourceBuyers | undefined;
  /** When buyers pay for this caller again; without buyers that would pay now. */
  pays_again_at?: ReadonlyMap<number, Date>;
  /** Minimum time between two calls to a buyer. */
  spacing_seconds?: number;
  /** The last dial of buyers, by id; not of all without spacing. */
  last_calls?: ReadonlyMap<number, Date>;
  /** False when the carrier cannot ask an answering buyer to press 1; absent: it can. */
  can_whisper?: boolean | undefined;
  /** False when the carrier cannot play tones to an answering buyer; absent: it can. */
  can_play_tones?: boolean | undefined;
  /** The trunks of the call; absent when its carrier or switch chooses the line. */
  lines?: Lines | undefined;
  /** Results of pre-dial webhooks by buyer; null when the buyer may be dialed. */
  vetoed?: ReadonlyMap<number, Veto | null> | undefined;
  /** Absent when no buyer is asked for bids. */
  bids?: CallBids | undefined;
}

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
  /** Facts behind the reason, for programs. */
  details: Record<string, unknown> | null;
}

export function evaluateEligibility(candidate: Candidate, facts: Facts): Eligibility {
  const {
    reason = null,
    message = null,
    details = null,
  } = (eligibilityCheck(facts)(candidate) ?? {}) as Partial<Fault>;
  return {
    buyer_id: candidate.id,
    name: candidate.name,
    available: reason === null,
    reason,
    message,
    details,
  };
}

/**
 * Returns a function that finds the first reason why a buyer cannot take the call now; undefined
 * when it can. Filters and hours shared by many buyers (one object) are evaluated once.
 */
export function eligibilityCheck(facts: Facts): (candidate: Candidate) => Fault | undefined {
  const { refused, tried, only_buyer_id, reserved } = facts;
  if (refused) return () => refused;
  const ownFault = buildOwnFaultCheck(facts);
  const anyBuyer = only_buyer_id === undefined && !tried?.size && !facts.source_buyers;
  const anyAnswer = (facts.can_whisper ?? true) && (facts.can_play_tones ?? true);
  const anyVeto = (facts.vetoed?.size ?? 0) > 0;
  return (candidate) =>
    (anyBuyer ? undefined : callFault(candidate, facts)) ??
    (reserved?.has(candidate.id) ? undefined : ownFault(candidate)) ??
    (anyAnswer ? undefined : answerFault(candidate, facts)) ??
    bidFault(candidate, facts.bids) ??
    numberFault(candidate) ??
    trunkFault(candidate, facts.lines) ??
    (anyVeto ? vetoFault(candidate, facts) : undefined);
}

/** Checks the buyer itself, and the groups that lead to it. */
function buildOwnFaultCheck(facts: Facts): (candidate: Candidate) => Fault | undefined {
  const { tokens, now, spacing_seconds = 0 } = facts;
  const anyPaid = (facts.pays_again_at?.size ?? 0) > 0;
  const filters = memoize((list: Candidate['record_token_filter_list']) =>
    filterFault(list, tokens),
  );
  const ofZone = memoize((zone: string) =>
    memoize((hours: Candidate['business_hours']) => hoursFault(hours, zone, now)),
  );
  const suppressed = memoizeSuppressions();
  const closed = ({ business_hours, zone }: Candidate) =>
    business_hours.length === 0 ? undefined : ofZone(zone)(business_hours);
  return (candidate) => {
    if (candidate.paused) return pauseFault('paused', 'the buyer');
    const pathFault = findPathFault(candidate);
    if (pathFault?.reason === 'group_paused') return pathFault;
    return (
      closed(candidate) ??
      (candidate.suppressed_by.length === 0 ? undefined : suppressed(candidate)) ??
      filters(candidate.record_token_filter_list) ??
      (pathFault || candidate.used_up ? fullFault(candidate, pathFault) : undefined) ??
      (anyPaid ? duplicateFault(candidate, facts) : undefined) ??
      (spacing_seconds === 0 ? undefined : spacingFault(candidate, facts))
    );
  };
}

function memoize<Argument, Result>(
  work: (argument: Argument) => Result,
): (argument: Argument) => Result {
  let last: Argument | undefined;
  let result: Result;
  const results = new Map<Argument, Result>();
  return (argument) => {
    if (argument === last) return result;
    last = argument;
    result = results.has(argument) ? results.get(argument)! : work(argument);
    results.set(argument, result);
    return result;
  };
}

function callFault(
  candidate: Candidate,
  { tried, only_buyer_id, source_buyers, reserved }: Facts,
): Fault | undefined {
  const { id } = candidate;
  if (tried?.has(id))
    return { reason: 'already_tried', message: 'the call was tried with the buyer before' };
  if (only_buyer_id !== undefined && only_buyer_id !== id)
    return {
      reason: 'not_previous_buyer',
      message: `the offer sends callers back to their previous buyer, ${only_buyer_id}`,
      details: { previous_buyer_id: only_buyer_id },
    };
  return source_buyers && !reserved?.has(id)
    ? sourceBuyerFault(candidate, source_buyers)
    : undefined;
}

/** Buyers on the same lists share one reason. */
function memoizeSuppressions(): (candidate: Candidate) => Fault {
  const faults = new Map<string, Fault>();
  return (candidate) => {
    const ids = candidate.suppressed_by.map(({ id }) => id).join();
    const fault = faults.get(ids) ?? suppressedFault(candidate);
    faults.set(ids, fault);
    return fault;
  };
}

function suppressedFault({ suppressed_by }: Candidate): Fault {
  const lists = suppressed_by.map(({ id, name }) => `"${name}" (${id})`).join(', ');
  return {
    reason: 'suppressed',
    message: `the caller's number is on a suppression list of the buyer: ${lists}`,
    details: { buyer_suppression_ids: suppressed_by.map(({ id }) => id) },
  };
}

/** Candidates share filter lists, and keep them from one call to the next. */
const compiled = new WeakMap<readonly string[], ReturnType<typeof compileFilter>[]>();

export function filterFault(
  filters: Candidate['record_token_filter_list'],
  tokens: TokenSource,
): Fault | undefined {
  const conditions = compiled.get(filters) ?? filters.map(compileFilter);
  compiled.set(filters, conditions);
  const unmet = conditions.findIndex((holds) => !holds?.(tokens));
  if (unmet === -1) return undefined;
  const filter = filters[unmet];
  const message = `a filter of the buyer does not hold: ${filter}`;
  return { reason: 'filter_unmet', message, details: { filter } };
}

function duplicateFault({ id, zone }: Candidate, { pays_again_at }: Facts): Fault | undefined {
  const at = pays_again_at?.get(id);
  if (!at) return undefined;
  const message = `the buyer has paid for this caller, and pays again from ${localTime(at, zone)}`;
  return {
    reason: 'duplicate_caller',
    message,
    details: { pays_again_at: at.toISOString() },
  };
}

function spacingFault(
  { id, zone }: Candidate,
  { now, spacing_seconds = 0, last_calls }: Facts,
): Fault | undefined {
  const last = last_calls?.get(id);
  if (!last) return undefined;
  const at = new Date(last.getTime() + spacing_seconds * 1000);
  if (at <= now) return undefined;
  const rule = `the offer gives a buyer one call in ${spacing_seconds} seconds`;
  return {
    reason: 'spacing',
    message: `${rule}: the next at ${localTime(at, zone)}`,
    details: { next_call_at: at.toISOString() },
  };
}

/** For a carrier that does not do all that a buyer may need when it answers. */
function answerFault(
  { press_one_to_accept, dtmf_tones, number }: Candidate,
  { can_whisper = true, can_play_tones = true }: Facts,
): Fault | undefined {
  if (press_one_to_accept && !can_whisper)
    return {
      reason: 'key_press_unavailable',
      message: 'the buyer must press 1, and the carrier cannot ask it to',
    };
  // A SIP address is played its tones as another buyer is asked for a key.
  const isPlayed = can_play_tones && (can_whisper || !isSip(number ?? ''));
  if (!dtmf_tones || isPlayed) return undefined;
  return {
    reason: 'tones_unavailable',
    message: 'the buyer needs tones when it answers, and the carrier cannot play them',
  };
}

function numberFault({ number }: Candidate): Fault | undefined {
  return number?.trim() ? undefined : { reason: 'no_number', message: 'the buyer has no number' };
}

function vetoFault({ id }: Candidate, { vetoed }: Facts): Fault | undefined {
  const veto = vetoed?.get(id);
  if (!veto) return undefined;
  const { outgoing_webhook_id, reason } = veto;
  return {
    reason: 'vetoed',
    message: `webhook ${outgoing_webhook_id} vetoed the buyer: ${reason}`,
    details: { outgoing_webhook_id, veto: reason },
  };
}
