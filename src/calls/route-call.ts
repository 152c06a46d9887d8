import { maxLegsOf } from '../carriers/carrier';
import type { Statements } from '../db/tenant';
import { bidsRequired, withAnswers, type KnownBids } from '../routing/bidding';
import type { CallFacts } from '../routing/caller-facts';
import type { Basis } from '../routing/engine/basis';
import type { Candidate } from '../routing/engine/candidate';
import type { Member, RouteFacts } from '../routing/engine/route';
import { loadRouting, sourceOf, type RoutingContext } from '../routing/load-routing';
import { measureDecision } from '../routing/measure-decision';
import {
  isCheckRequired,
  preDialCheckOf,
  type PreDialCheckRequired,
  type PreDialVetoes,
} from '../routing/pre-dial-webhooks';
import type { PreDialWebhook } from '../routing/read-pre-dial-webhooks';
import { recordPingOutcome, type AwaitedReservation } from '../routing/reservations';
import {
  claimReservedBuyers,
  reserveCheckedBuyers,
  type ClaimedBuyers,
} from '../routing/reserve-buyers';
import { routeFacts, type CallToRoute } from '../routing/route-facts';
import { newSeed } from '../routing/seed';
import { convertCall } from './convert-call';
import { outcomeOf, type RoutableCall } from './outcome';
import { RELEASE_SLOTS } from './queries/concurrency-slots';
import type { CallRow } from './read-call';
import { recordNewCall, recordRound, type NewCall, type NewEvent, type Round } from './record-call';

interface Routing {
  facts: CallFacts;
  candidates: readonly Candidate[];
  known_bids?: KnownBids | undefined;
  basis: Basis;
  asked: RouteFacts;
  /** Asked before a buyer is dialed; absent for a call about which they cannot be asked. */
  webhooks?: readonly PreDialWebhook[];
  /** What they said so far. */
  vetoes?: PreDialVetoes | undefined;
  /** What a seller of calls has reserved for this call. */
  reservation?: AwaitedReservation | undefined;
  /** Events of the call that come before those of this round. */
  events?: readonly NewEvent[];
}

/** A routed call. */
export interface Routed extends Pick<Round, 'round' | 'dial' | 'set'> {
  /** Of the call. */
  id: number;
}

/**
 * Finds the buyers for a call, reserves their caps, and writes all of it, with the call itself if
 * it is new. Needs a transaction, which must be rolled back when the result is that webhooks must
 * be asked first. A known call is locked by the caller.
 */
export async function routeCall(
  db: Statements,
  call: RoutableCall,
  routing: Routing,
): Promise<Routed | PreDialCheckRequired> {
  const { now } = routing.asked;
  const chosen = await chooseBuyers(db, call, routing);
  if (isCheckRequired(chosen)) return chosen;
  const { members, ping_id } = chosen;
  const outcome = outcomeOf(call, routing, chosen);
  const { round, dial, set } = outcome;
  const id = await record(db, call, outcome);
  measureDecision(outcome.decision);
  if (ping_id !== undefined) await recordPingOutcome(db, ping_id, id);
  for (const { buyer } of members)
    if (buyer.pays_at_dial)
      await convertCall(db, { call_id: id, buyer_id: buyer.id, answered_seconds: 0, now });
  return { id, round, dial, set };
}

type Turn = Pick<CallToRoute, 'now' | 'tried' | 'vetoes' | 'is_accepted' | 'comes_in'>;

/** The facts that decide where a call goes now. */
export const factsOfCall = (
  db: Statements,
  call: NewCall | CallRow,
  found: RoutingContext,
  turn: Turn,
): Promise<RouteFacts> =>
  routeFacts(db, found, {
    ...turn,
    seed: turn.vetoes?.seed ?? newSeed(),
    caller_number: call.caller_number,
    tokens: call.token_values,
    origin: call,
    max_legs: maxLegsOf(call.carrier),
    call_id: 'id' in call ? call.id : undefined,
  });

/**
 * Loads what decides about a call that is written already, and routes it. Undefined when its offer
 * is gone.
 */
export async function routeKnownCall(
  db: Statements,
  call: CallRow,
  turn: Turn,
): Promise<Routed | PreDialCheckRequired | undefined> {
  const { now, vetoes } = turn;
  const { caller_number, traffic_source_id } = call;
  const asking = { source: sourceOf(call), number: caller_number, traffic_source_id, now };
  const read = await loadRouting(db, asking);
  if (!read) return undefined;
  const found = withAnswers(read, vetoes?.bids);
  const asked = await factsOfCall(db, call, found, turn);
  return routeCall(db, call, { ...found, vetoes, asked });
}

/** The buyers that a seller has reserved, else the first that can be reserved now. */
async function chooseBuyers(
  db: Statements,
  call: RoutableCall,
  { facts, candidates, known_bids, asked, reservation, webhooks = [], vetoes }: Routing,
): Promise<ClaimedBuyers | PreDialCheckRequired> {
  const checkOf = (members: readonly Member[]) =>
    vetoes && preDialCheckOf(members, webhooks, { call, tokens: asked.tokens, vetoes });
  const awaited = reservation && {
    held: reservation,
    call: { offer_id: facts.offer.id!, caller_number: call.caller_number! },
  };
  return (
    (awaited && (await claimReservedBuyers(db, candidates, asked, awaited))) ??
    (await reserveCheckedBuyers(db, candidates, {
      ...asked,
      checkOf,
      counts_without_buyer: true,
      bidsOf:
        vetoes && ((current) => bidsRequired({ candidates: current, known_bids }, asked, { call })),
    }))
  );
}

async function record(db: Statements, call: RoutableCall, round: Round): Promise<number> {
  if (!('id' in call)) return recordNewCall(db, call, round);
  await recordRound(db, call.id, round);
  if (round.set.ended_at) await db.sql(RELEASE_SLOTS, { call_id: call.id });
  return call.id;
}
