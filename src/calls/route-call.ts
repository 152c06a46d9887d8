import type { CallFacts } from '../routing/caller-facts';
import { recordPingOutcome, type AwaitedReservation } from '../routing/reservations';
import { recordRound, type NewCall, type NewEvent, type Round } from './queries/record-call';
import type { CallRow } from './queries/calls';
import type { Statements } from '../db/tenant';
import type { PreDialWebhook } from '../routing/read-pre-dial-webhooks';
import { uuidv7 } from '../db/uuid';
import {
  packDecision,
  decisionOf,
  type Action,
  type Decision,
  type Verdict,
} from '../routing/engine/decision';
import type { DialBuyer } from '../routing/engine/instruction';
import type { Candidate } from '../routing/engine/candidate';
import type { Refused } from '../routing/engine/eligibility';
import { route, type Member, type RouteFacts } from '../routing/engine/route';
import type { Chosen } from '../routing/engine/reserved-choice';
import type { CallToDial } from '../routing/ask-webhooks';
import {
  isCheckRequired,
  preDialCheckOf,
  type PreDialCheckRequired,
  type PreDialVetoes,
} from '../routing/pre-dial-webhooks';
import { RINGING_GRACE_SECONDS } from './session';
import {
  claimReservedBuyers,
  reserveCheckedBuyers,
  type ClaimedBuyers,
} from '../routing/reserve-buyers';
import { convertCall } from './convert-call';

/** What is decided of a call as it goes to some buyers, or to nobody. Pure. */
function verdictOf(
  facts: CallFacts,
  { now, seed, refused }: RouteFacts,
  { round, routed, members, caps }: Omit<Chosen, 'slots'> & { round: number },
): Verdict {
  const buyer_ids = members.map(({ buyer }) => buyer.id);
  const dials = buyer_ids.length > 0;
  const none = dials
    ? { reason: null, message: null }
    : nobody(facts, refused, routed.considered.length);
  return {
    round,
    at: now.toISOString(),
    seed,
    offer_id: facts.offer.id,
    action: dials ? 'dial' : fallbackOf(facts, refused),
    ...none,
    buyer_ids,
    caps,
  };
}

function nobody(
  { offer }: CallFacts,
  refused: Refused | undefined,
  candidates: number,
): { reason: string; message: string } {
  if (refused) return refused;
  if (offer.id === null)
    return {
      reason: 'no_buyer_available',
      message: 'the buyer that the number forwards to cannot take the call',
    };
  if (candidates === 0) return { reason: 'no_buyers', message: 'the offer has no buyers' };
  return { reason: 'no_buyer_available', message: 'no buyer of the offer can take the call' };
}

/** Whose calls are not wanted at all is not given a fallback either. */
function fallbackOf({ offer }: CallFacts, refused: Refused | undefined): Action {
  if (refused && refused.reason !== 'offer_paused') return 'hang_up';
  return offer.fallback_type === 'hang_up' ? 'hang_up' : 'fallback';
}

/** What would be decided, without taking anything up. */
export function explain(
  facts: CallFacts,
  candidates: readonly Candidate[],
  asked: RouteFacts,
): Decision {
  const routed = route(candidates, asked);
  return decisionOf(
    verdictOf(facts, asked, {
      round: 1,
      routed,
      members: routed.choices[0]?.members ?? [],
      caps: [],
    }),
    routed.considered,
  );
}

interface Routing {
  facts: CallFacts;
  candidates: readonly Candidate[];
  asked: RouteFacts;
  /** Who is to be asked before a buyer is dialed, and what was asked so far; of a call that nobody can be asked about there is none. */
  webhooks?: readonly PreDialWebhook[];
  vetoes?: PreDialVetoes | undefined;
  /** What a seller of calls has had held for it. */
  held?: AwaitedReservation | undefined;
  /** What comes before in the story of the call. */
  events?: readonly NewEvent[];
}

/** What a call has come to. */
export interface Routed extends Pick<Round, 'round' | 'dial' | 'set'> {
  /** Of the call. */
  id: number;
}

/**
 * Looks for a buyer for a call, takes up its caps, and writes all of it down, with the call itself if that is new. Within a transaction that has the call
 * to itself, and is rolled back when the result is that webhooks must be asked first.
 */
export async function routeCall(
  db: Statements,
  call: (Pick<CallRow, 'id' | 'round' | 'caller_number'> & CallToDial) | (NewCall & { round: 0 }),
  { facts, candidates, asked, held, webhooks = [], vetoes, events = [] }: Routing,
): Promise<Routed | PreDialCheckRequired> {
  const { now } = asked;
  const checkOf = (members: readonly Member[]) =>
    vetoes && preDialCheckOf(members, webhooks, { call, tokens: asked.tokens, vetoes });
  const awaited = held && {
    held,
    call: { offer_id: facts.offer.id!, caller_number: call.caller_number! },
  };
  const chosen: ClaimedBuyers | PreDialCheckRequired =
    (awaited && (await claimReservedBuyers(db, candidates, asked, awaited))) ??
    (await reserveCheckedBuyers(db, candidates, { ...asked, checkOf }));
  if (isCheckRequired(chosen)) return chosen;
  const { members, routed, slots, caps, ping_id } = chosen;
  const dial = members.map((member) => dialOf(member, call, now));
  const round = call.round + 1;
  const verdict = verdictOf(facts, asked, { round, routed, members, caps });
  const longest = Math.max(0, ...dial.map(({ timeout_seconds }) => timeout_seconds));
  const set =
    dial.length > 0
      ? { status: 'ringing', fallback: null, hangup_cause: null, ended_at: null }
      : ended(verdict, facts, now);
  const id = await recordRound(db, 'id' in call ? call.id : call, {
    round,
    now,
    decision: packDecision(verdict, routed),
    dial,
    slots,
    lease_until: new Date(now.getTime() + (longest + RINGING_GRACE_SECONDS) * 1000),
    events: [
      ...events,
      ...dial.map(({ buyer_id, number }) => ({ event: 'dialed', message: number, buyer_id })),
      ...(dial.length > 0 ? [] : [{ event: verdict.action, message: verdict.message }]),
    ],
    set,
  });
  if (ping_id !== undefined) await recordPingOutcome(db, ping_id, id);
  for (const { buyer } of members)
    if (buyer.pays_at_dial)
      await convertCall(db, { call_id: id, buyer_id: buyer.id, answered_seconds: 0, now });
  return { id, round, dial, set };
}

/** Nobody is left: the search is over, and the call with it as far as it is ours. */
function ended({ action, reason }: Verdict, { offer }: CallFacts, now: Date) {
  return {
    status: 'no_answer',
    fallback: action === 'fallback' ? offer.fallback_type : 'hang_up',
    hangup_cause: reason,
    ended_at: now,
  };
}

function dialOf(
  { buyer, group }: Member,
  { caller_number }: Pick<CallRow, 'caller_number'>,
  now: Date,
): DialBuyer {
  return {
    attempt: uuidv7(now.getTime()),
    buyer_id: buyer.id,
    user_buyer_id: buyer.user_buyer_id,
    name: buyer.name,
    buyer_group_id: group?.id ?? null,
    number: buyer.number!,
    timeout_seconds: buyer.timeout_seconds,
    caller_id: callerIdOf(buyer, caller_number),
    dtmf_tones: buyer.dtmf_tones,
    press_one_to_accept: buyer.press_one_to_accept,
    record_calls: buyer.record_calls,
  };
}

/** A withheld number stays so; a fake one is none. */
function callerIdOf(
  { display_caller_id_type, display_service_number }: Candidate,
  caller_number: number | null,
): string | null {
  if (display_caller_id_type === 'display_service_number_id') return display_service_number;
  return display_caller_id_type === 'display_caller_id' && caller_number !== null
    ? `+${caller_number}`
    : null;
}
