import { randomBytes } from 'node:crypto';
import type { CallFacts } from '../db/call-facts';
import type { AwaitedHold } from '../db/call-holds';
import { loadConversions } from '../db/call-facts';
import { recordRound, type CallRow, type DialBuyer } from '../db/calls';
import type { Statements } from '../db/tenant';
import { uuidv7 } from '../ids';
import { packed, type Action, type Decision } from '../routing/decision';
import { type Candidate, type Refused } from '../routing/eligibility';
import { route, type Considered, type Member, type RouteFacts } from '../routing/route';
import { leadTokens } from '../tokens/system';
import type { Chosen } from '../routing/held';
import { chooseBuyers, takeHeldBuyers } from './choose-buyers';
import { convertCall } from './convert-call';

/** How long beyond its ringing a dialed call may tell nothing before it is taken for dead. */
export const RINGING_GRACE_SECONDS = 60;

/** What the buyers of a call are asked by. */
export interface Question {
  now: Date;
  seed: string;
  caller_number: number | null;
  tokens: Record<string, unknown>;
  tried: ReadonlySet<number>;
}

export const newSeed = (): string => randomBytes(8).toString('hex');

/** The facts that decide about a call. Pure. */
export function routeFacts(facts: CallFacts, { now, seed, caller_number, tokens, tried }: Question): RouteFacts {
  const { offer, previous_buyer_id, paid } = facts;
  const known = leadTokens(tokens, {
    caller_id: caller_number === null ? '' : `+${caller_number}`,
    service_number: undefined,
    offer_name: offer.name,
    buyer_name: undefined,
    call_uuid: undefined,
    total_duration: undefined,
    revenue: '0',
    payout: '0',
    previous_buyer_fleet_ids: facts.previous_fleets,
    calls_last: facts.calls_last,
  });
  const again = previous_buyer_id ?? undefined;
  return {
    now,
    seed,
    tokens: known,
    tried,
    refused: refusedBy(facts),
    first_buyer_id: offer.callback_behavior === 'same_buyer_first' ? again : undefined,
    only_buyer_id: offer.callback_behavior === 'same_buyer_only' ? again : undefined,
    pays_again_at: new Map(offer.skip_duplicates ? paid.map(({ buyer_id, pays_again_at }) => [buyer_id, new Date(pays_again_at)]) : []),
    spacing_seconds: offer.spacing_seconds,
  };
}

function refusedBy({ offer, blacklisted, suppressed_by }: CallFacts): Refused | undefined {
  if (blacklisted) return { reason: 'blacklisted', message: "the caller's number is on the blacklist of the company" };
  const lists = suppressed_by.map(({ id, name }) => `"${name}" (${id})`).join(', ');
  if (lists) return { reason: 'offer_suppressed', message: `the caller's number is on a suppression list of the offer: ${lists}` };
  return offer.paused ? { reason: 'offer_paused', message: 'the offer is paused' } : undefined;
}

interface Deciding {
  facts: CallFacts;
  asked: RouteFacts;
  round: number;
  considered: readonly Considered[];
  chosen: readonly number[];
  caps: Chosen['caps'];
}

/** The decision as it is kept and told. Pure. */
export function decisionOf({ facts, asked, round, considered, chosen, caps }: Deciding): Decision {
  const dialed = new Set(chosen);
  const none = dialed.size > 0 ? { reason: null, message: null } : nobody(facts, asked.refused, considered.length);
  return {
    round,
    at: asked.now.toISOString(),
    seed: asked.seed,
    offer_id: facts.offer.id,
    action: dialed.size > 0 ? 'dial' : fallbackOf(facts, asked.refused),
    ...none,
    buyer_ids: [...chosen],
    candidates: considered.map(({ available, ...candidate }) => ({ ...candidate, chosen: available && dialed.has(candidate.buyer_id) })),
    caps,
  };
}

function nobody({ offer }: CallFacts, refused: Refused | undefined, candidates: number): { reason: string; message: string } {
  if (refused) return refused;
  if (offer.id === null) return { reason: 'no_buyer_available', message: 'the buyer that the number forwards to cannot take the call' };
  if (candidates === 0) return { reason: 'no_buyers', message: 'the offer has no buyers' };
  return { reason: 'no_buyer_available', message: 'no buyer of the offer can take the call' };
}

/** Whose calls are not wanted at all is not given a fallback either. */
function fallbackOf({ offer }: CallFacts, refused: Refused | undefined): Action {
  if (refused && refused.reason !== 'offer_paused') return 'hang_up';
  return offer.fallback_type === 'hang_up' ? 'hang_up' : 'fallback';
}

/** What would be decided, without taking anything up. */
export function explain(facts: CallFacts, candidates: readonly Candidate[], asked: RouteFacts): Decision {
  const { choices, considered } = route(candidates, asked);
  const chosen = choices[0]?.members.map(({ buyer }) => buyer.id) ?? [];
  return decisionOf({ facts, asked, round: 1, considered, chosen, caps: [] });
}

interface Routing {
  facts: CallFacts;
  candidates: readonly Candidate[];
  asked: RouteFacts;
  /** What a seller of calls has had held for it. */
  held?: AwaitedHold | undefined;
  /** What comes before in the story of the call. */
  events?: Parameters<typeof recordRound>[1]['events'];
}

/** Looks for a buyer for a call, takes up its caps, and writes all of it down. Within a transaction that has the call to itself. */
export async function routeCall(
  db: Statements,
  call: Pick<CallRow, 'id' | 'round' | 'caller_number'>,
  { facts, candidates, asked, held, events = [] }: Routing,
): Promise<void> {
  const { now } = asked;
  const awaited = held && { held, call: { id: call.id, offer_id: facts.offer.id!, caller_number: call.caller_number! } };
  const chosen = (awaited && (await takeHeldBuyers(db, candidates, asked, awaited))) ?? (await chooseBuyers(db, candidates, asked));
  const dial = chosen.members.map((member) => dialOf(member, call, now));
  const round = call.round + 1;
  const decision = decisionOf({ facts, asked, round, considered: chosen.routed.considered, chosen: dial.map(({ buyer_id }) => buyer_id), caps: chosen.caps });
  const longest = Math.max(0, ...dial.map(({ timeout_seconds }) => timeout_seconds));
  await recordRound(db, {
    call_id: call.id,
    round,
    now,
    decision: JSON.stringify(packed(decision)),
    dial: dial.map((each) => ({ ...each, status: 'ringing' })),
    slots: chosen.slots,
    lease_until: new Date(now.getTime() + (longest + RINGING_GRACE_SECONDS) * 1000),
    events: [
      ...events,
      ...dial.map(({ buyer_id, number }) => ({ event: 'dialed', message: number, buyer_id })),
      ...(dial.length > 0 ? [] : [{ event: decision.action, message: decision.message }]),
    ],
    set: dial.length > 0 ? { status: 'ringing', fallback: null, hangup_cause: null, ended_at: null } : ended(decision, facts, now),
  });
  for (const { buyer_id } of dial) {
    const conversions = await loadConversions(db, buyer_id, now);
    if (conversions.some(({ conversion_type, duration }) => conversion_type === 'duration' && duration === 0))
      await convertCall(db, { call_id: call.id, buyer_id, answered_seconds: 0, now });
  }
}

/** Nobody is left: the search is over, and the call with it as far as it is ours. */
function ended({ action, reason }: Decision, { offer }: CallFacts, now: Date) {
  return { status: 'no_answer', fallback: action === 'fallback' ? offer.fallback_type : 'hang_up', hangup_cause: reason, ended_at: now };
}

function dialOf({ buyer, group }: Member, { caller_number }: Pick<CallRow, 'caller_number'>, now: Date): DialBuyer {
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
function callerIdOf({ display_caller_id_type, display_service_number }: Candidate, caller_number: number | null): string | null {
  if (display_caller_id_type === 'display_service_number_id') return display_service_number;
  return display_caller_id_type === 'display_caller_id' && caller_number !== null ? `+${caller_number}` : null;
}
