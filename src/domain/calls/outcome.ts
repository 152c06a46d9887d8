import { dialsAsOne } from '../../platform/carriers/carrier';
import { uuidv7 } from '../../data/uuid';
import { buyersPassedOver, routingDecisions } from '../../platform/telemetry/metrics';
import type { CallToDial } from '../routing/ask-webhooks';
import type { CallFacts } from '../routing/context';
import type { Candidate } from '../routing/engine/candidate';
import type { Refusal } from '../routing/engine/eligibility';
import { evaluate, type RouteFacts } from '../routing/engine/evaluate';
import {
  buildDecision,
  packDecision,
  type Action,
  type Basis,
  type Decision,
  type StoredDecision,
  type Verdict,
} from '../routing/engine/explain';
import type { Route } from '../routing/engine/line';
import { applyRoute, buildRoute, renderHeaders } from '../routing/engine/trunks';
import type { DialBuyer } from '../routing/engine/progress';
import { pickFirst, type Member } from '../routing/engine/order';
import type { ChosenBuyers } from '../routing/engine/reserved-choice';
import type { CallRow } from './read-call';
import type { NewCall, NewEvent, Round } from './record-call';
import { computeLease } from './session';

/** A call that is routed again, or that a person has answered. */
type KnownCall = Pick<CallRow, 'id' | 'round' | 'carrier' | 'caller_number' | 'direction'> &
  CallToDial;
export type RoutableCall = KnownCall | (NewCall & { round: 0 });

interface DecisionInput {
  facts: CallFacts;
  routingFacts: RouteFacts;
  basis: Basis;
  /** Events of the call that come before those of this round. */
  events?: readonly NewEvent[];
}

/** Pure. `members` may be empty. */
export function buildRound(
  call: RoutableCall,
  { facts, routingFacts: loadedFacts, basis, events = [] }: DecisionInput,
  { members, trunks, evaluation, slots, caps, refused = loadedFacts.refused }: ChosenBuyers,
): Round {
  const routingFacts = { ...loadedFacts, refused };
  const { now } = routingFacts;
  const legs = members.map((member) => buildLeg(member, { call, trunks, routingFacts }));
  const dial = legs.map((leg) => leg.dial);
  const round = call.round + 1;
  const verdict = toOutboundVerdict(
    call,
    buildVerdict(facts, routingFacts, {
      round,
      count: evaluation.candidates.length,
      members,
      caps,
    }),
    facts,
  );
  const ringing = dial.map((buyer) => ({ status: 'ringing' as const, dial: buyer }));
  const longest = Math.max(0, ...dial.map(({ timeout_seconds }) => timeout_seconds));
  const [first] = dial;
  const set = first
    ? { status: pickStatus(call), fallback: null, hangup_cause: null, ended_at: null }
    : buildEndWithoutBuyer(call, { verdict, facts, now });
  return {
    round,
    now,
    decision: packDecision(verdict, evaluation, basis),
    basis,
    dial,
    routes: new Map(legs.flatMap((leg) => (leg.routes ? [[leg.dial.attempt, leg.routes]] : []))),
    bids: members.flatMap(({ buyer: { id, bid } }) => (bid ? [{ buyer_id: id, ...bid }] : [])),
    dials_as_one: dialsAsOne(call.carrier),
    longest,
    slots,
    lease_until: new Date(now.getTime() + computeLease(call, ringing) * 1000),
    events: [...events, ...buildEvents(call, dial, verdict)],
    set: {
      ...set,
      buyer_id: first?.buyer_id ?? null,
      buyer_group_id: first?.buyer_group_id ?? null,
      connect_to: first?.number ?? null,
    },
  };
}

function buildVerdict(
  facts: CallFacts,
  { now, seed, refused, bids }: RouteFacts,
  {
    round,
    count,
    members,
    caps,
  }: Pick<ChosenBuyers, 'members' | 'caps'> & { round: number; count: number },
): Verdict {
  const buyerIds = members.map(({ buyer }) => buyer.id);
  const dials = buyerIds.length > 0;
  const reason = dials ? { reason: null, message: null } : pickReason(facts, refused, count);
  return {
    round,
    at: now.toISOString(),
    seed,
    offer_id: facts.offer.id,
    action: dials ? 'dial' : pickFallbackAction(facts, refused),
    ...reason,
    buyer_ids: buyerIds,
    bids: bids?.decidedBids ?? [],
    caps,
  };
}

function pickReason(
  { offer }: CallFacts,
  refused: Refusal | undefined,
  candidates: number,
): { reason: string; message: string } {
  if (refused) return { reason: refused.reason, message: refused.message };
  if (offer.id === null)
    return {
      reason: 'no_buyer_available',
      message: 'the buyer that the number forwards to cannot take the call',
    };
  if (candidates === 0) return { reason: 'no_buyers', message: 'the offer has no buyers' };
  return { reason: 'no_buyer_available', message: 'no buyer of the offer can take the call' };
}

const WITH_FALLBACK = new Set<string>([
  'offer_paused',
  'traffic_source_paused',
  'traffic_source_cap_reached',
  'traffic_source_concurrency_full',
]);

/** Callers on the blacklist or a suppression list get no fallback either. */
function pickFallbackAction({ offer }: CallFacts, refused: Refusal | undefined): Action {
  if (refused && !WITH_FALLBACK.has(refused.reason)) return 'hang_up';
  return offer.fallback_type === 'hang_up' ? 'hang_up' : 'fallback';
}

/** The decision about a call that does not take place. Pure. */
export function explain(
  facts: CallFacts,
  candidates: readonly Candidate[],
  routingFacts: RouteFacts,
): Decision {
  const evaluation = evaluate(candidates, routingFacts);
  const verdict = buildVerdict(facts, routingFacts, {
    round: 1,
    count: candidates.length,
    members: pickFirst(evaluation)?.members ?? [],
    caps: [],
  });
  return buildDecision(verdict, evaluation);
}

/** Counts a recorded decision. A later rollback does not undo the count. */
export function measureDecision({ action, reason, faults }: StoredDecision): void {
  routingDecisions.inc({ action, reason: reason ?? 'none' });
  // `faults` has one entry for each reason, not for each buyer.
  for (const fault of faults) buyersPassedOver.inc({ reason: fault.reason }, fault.ids.length);
}

function buildEvents(
  call: RoutableCall,
  dial: readonly DialBuyer[],
  { action, message }: Verdict,
): NewEvent[] {
  if (dial.length === 0) return [{ event: isOutbound(call) ? 'abandoned' : action, message }];
  return dial.map(({ buyer_id, number, trunk }) => ({
    event: 'dialed',
    message: trunk ? `${number} through ${trunk.name}` : number,
    buyer_id,
    details: trunk && { trunk: trunk.name },
  }));
}

const isOutbound = (call: RoutableCall): boolean =>
  'direction' in call && call.direction === 'outbound';

/** While buyers ring. The person who was called has answered. */
const pickStatus = (call: RoutableCall): string => (isOutbound(call) ? 'in_progress' : 'ringing');

/** The fallback of an offer is for callers: a person who was called only hears a message. */
function toOutboundVerdict(call: RoutableCall, verdict: Verdict, { offer }: CallFacts): Verdict {
  if (!isOutbound(call) || verdict.action === 'dial') return verdict;
  return { ...verdict, action: offer.abandoned_message?.trim() ? 'fallback' : 'hang_up' };
}

interface WithoutBuyer {
  verdict: Verdict;
  facts: CallFacts;
  now: Date;
}

const buildEndWithoutBuyer = (call: RoutableCall, { verdict, facts, now }: WithoutBuyer) =>
  isOutbound(call)
    ? buildAbandonedEnd(verdict.reason, facts.offer, now)
    : buildUnansweredEnd(verdict, facts, now);

export const buildAbandonedEnd = (
  reason: string | null,
  { abandoned_message }: Pick<CallFacts['offer'], 'abandoned_message'>,
  now: Date,
) => ({
  status: 'completed',
  fallback: abandoned_message?.trim() ? 'message' : 'hang_up',
  hangup_cause: reason,
  ended_at: now,
  abandoned: true,
});

/** No buyer is left: for this service the call is over. */
function buildUnansweredEnd({ action, reason }: Verdict, { offer }: CallFacts, now: Date) {
  return {
    status: 'no_answer',
    fallback: action === 'fallback' ? offer.fallback_type : 'hang_up',
    hangup_cause: reason,
    ended_at: now,
  };
}

interface LegInput extends Pick<ChosenBuyers, 'trunks'> {
  call: Pick<CallRow, 'caller_number'>;
  routingFacts: Pick<RouteFacts, 'now' | 'tokens'>;
}

/** A buyer as it is dialed, with the routes to it where it is dialed through trunks. */
function buildLeg(
  member: Member,
  { call, trunks, routingFacts: { now, tokens } }: LegInput,
): { dial: DialBuyer; routes: Route[] | undefined } {
  const { id, sip_headers } = member.buyer;
  const dial = {
    ...buildDial(member, call, now),
    headers: renderHeaders(sip_headers ?? {}, tokens),
  };
  const routes = trunks
    .get(id)
    ?.slice(0, MAX_ROUTES)
    .map((trunk) => buildRoute(trunk, dial, tokens));
  return { dial: routes ? applyRoute(dial, routes[0]!) : dial, routes };
}

/** So many trunks are tried for a buyer. */
const MAX_ROUTES = 10;

function buildDial(
  { buyer, group }: Member,
  { caller_number }: Pick<CallRow, 'caller_number'>,
  now: Date,
): Omit<DialBuyer, 'headers'> {
  return {
    attempt: uuidv7(now.getTime()),
    buyer_id: buyer.id,
    user_buyer_id: buyer.user_buyer_id,
    name: buyer.name,
    buyer_group_id: group?.id ?? null,
    number: buyer.number!,
    timeout_seconds: buyer.timeout_seconds,
    caller_id: pickCallerId(buyer, caller_number),
    dtmf_tones: buyer.dtmf_tones,
    press_one_to_accept: buyer.press_one_to_accept,
    record_calls: buyer.record_calls,
    trunk: null,
  };
}

/** The caller's number, unless it is withheld, or the number that the buyer wants displayed. */
function pickCallerId(
  { display_caller_id_type, display_service_number }: Candidate,
  callerNumber: number | null,
): string | null {
  if (display_caller_id_type === 'display_service_number_id') return display_service_number;
  return display_caller_id_type === 'display_caller_id' && callerNumber !== null
    ? `+${callerNumber}`
    : null;
}
