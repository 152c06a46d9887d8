import { canWhisper, maxLegsOf } from '../carriers/carrier';
import type { Db, Statements } from '../db/tenant';
import { bidsRequired, withAnswers } from '../routing/bidding';
import type { AttemptStatus } from '../routing/engine/progress';
import type { Member, RouteFacts } from '../routing/engine/route';
import { loadRouting, sourceOf, type RoutingContext } from '../routing/load-routing';
import { measureDecision } from '../routing/measure-decision';
import {
  isCheckRequired,
  preDialCheckOf,
  type PreDialCheckRequired,
  type PreDialVetoes,
} from '../routing/pre-dial-webhooks';
import { recordPingOutcome } from '../routing/reservations';
import {
  chooseBuyers,
  claimReservedBuyers,
  lockCaps,
  reserveInTransaction,
  type BuyerChoice,
  type ClaimedBuyers,
  type Taken,
} from '../routing/reserve-buyers';
import { toSlots } from '../routing/cap-usage';
import { routeFacts, type CallToRoute } from '../routing/route-facts';
import { newSeed } from '../routing/seed';
import { convertCall } from './convert-call';
import { outcomeOf, type RoutableCall } from './outcome';
import type { CallRow } from './read-call';
import { recordNewCall, startRound, type NewCall, type NewEvent, type Round } from './record-call';

interface Routing extends Pick<
  RoutingContext,
  'facts' | 'candidates' | 'known_bids' | 'basis' | 'caps' | 'webhooks'
> {
  asked: RouteFacts;
  /** Answers of pre-dial webhooks so far; absent for a call about which they cannot be asked. */
  vetoes?: PreDialVetoes | undefined;
  /** Events of the call that come before those of this round. */
  events?: readonly NewEvent[];
}

export interface Routed extends Pick<Round, 'round' | 'dial' | 'set'> {
  id: number;
}

/**
 * Finds the buyers for a new call, reserves their caps, and writes all of it. Needs a transaction,
 * which must be rolled back when the result is that webhooks must be asked first.
 */
export async function routeNewCall(
  db: Statements,
  call: NewCall & { round: 0 },
  routing: Routing & Pick<RoutingContext, 'reservation'>,
): Promise<Routed | PreDialCheckRequired> {
  const chosen = await claimOrChoose(db, call, routing);
  if (isCheckRequired(chosen)) return chosen;
  const { members, ping_id } = chosen;
  const outcome = outcomeOf(call, routing, chosen);
  const { round, dial, set } = outcome;
  if (ping_id !== undefined) await lockCapsOfPayment(db, routing, members);
  const id = await recordNewCall(db, call, outcome);
  measureDecision(outcome.decision);
  if (ping_id !== undefined) await recordPingOutcome(db, ping_id, id);
  await convertAtDial(db, id, members, routing.asked.now);
  return { id, round, dial, set };
}

/**
 * Locks the caps that a reserved call changes when its buyers pay for being dialed: before the
 * decision is written, which may wait for another call that has locked some of them.
 */
async function lockCapsOfPayment(
  db: Statements,
  { caps, asked }: Routing,
  members: readonly Member[],
): Promise<void> {
  const paying = members.filter(({ buyer }) => buyer.pays_at_dial);
  if (paying.length === 0) return;
  const limit_ids = [
    ...paying.map(({ buyer }) => caps.caps_of_buyers.get(buyer.id)),
    ...paying.map(({ group }) => group && caps.caps_of_groups.get(group.id)),
    asked.source_caps?.limit_id,
  ].filter((id) => typeof id === 'number');
  await lockCaps(db, limit_ids);
}

/** Buyers that pay for being dialed do so in the transaction that records the dialing. */
async function convertAtDial(
  db: Statements,
  call_id: number,
  members: readonly Member[],
  now: Date,
): Promise<void> {
  for (const { buyer } of members)
    if (buyer.pays_at_dial)
      await convertCall(db, { call_id, buyer_id: buyer.id, answered_seconds: 0, now });
}

type Turn = Pick<CallToRoute, 'now' | 'tried' | 'vetoes' | 'is_accepted' | 'comes_in'>;

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
    // Includes tokens of a lead of another source, which are not the call's (calls/new-call.ts).
    tokens: { ...found.facts.lead?.data, ...call.token_values },
    origin: call,
    max_legs: maxLegsOf(call.carrier),
    can_whisper: turn.vetoes?.carrier && canWhisper(call.carrier, turn.vetoes.carrier),
    call_id: 'id' in call ? call.id : undefined,
  });

/** The end of the last round of a call that is routed again. */
interface EndOfRound {
  /** Version of the call as it was read; null for a call that is locked already. */
  version: string | null;
  ended_attempts: ReadonlyMap<string, AttemptStatus>;
  events: readonly NewEvent[];
  recording_url?: string | null | undefined;
}

const NOTHING_ENDED: EndOfRound = { version: null, ended_attempts: new Map(), events: [] };

/**
 * Nothing was written: the call is no longer as it was read, or it goes to a buyer that pays for
 * being dialed, which takes a transaction.
 */
type NotRouted = 'stale' | 'needs_transaction';

/**
 * Loads what decides about a call that is written already, and routes it: one exchange writes the
 * end of its last round, gives back the caps of that, reserves those of the next buyers, and
 * records what is dialed. Undefined when its offer is gone.
 */
export async function routeKnownCall(
  db: Statements & Partial<Pick<Db, 'batched'>>,
  call: CallRow,
  turn: Turn,
  ends: EndOfRound = NOTHING_ENDED,
): Promise<'routed' | PreDialCheckRequired | NotRouted | undefined> {
  const { now, vetoes } = turn;
  const { caller_number, traffic_source_id } = call;
  const asking = { source: sourceOf(call), number: caller_number, traffic_source_id, now };
  const read = await loadRouting(db, asking);
  if (!read) return undefined;
  const found = withAnswers(read, vetoes?.bids);
  const asked = await factsOfCall(db, call, found, turn);
  const routing = { ...found, asked, vetoes, events: ends.events };
  const take = async (choice: BuyerChoice): Promise<Taken<'routed' | NotRouted>> => {
    const { judged, members, usages, source_hold, refused } = choice;
    const pays_at_dial = members.some(({ buyer }) => buyer.pays_at_dial);
    if (pays_at_dial && db.batched) return { kind: 'taken', result: 'needs_transaction' };
    const chosen = { judged, members, slots: toSlots(usages), caps: [], refused };
    const outcome = outcomeOf(call, routing, chosen);
    const { version, ended_attempts, recording_url } = ends;
    const source_id = pays_at_dial ? call.traffic_source_id : null;
    const next = {
      version,
      ended_attempts,
      recording_url,
      outcome,
      usages,
      source_hold,
      source_id,
    };
    const started = await startRound(db, { call_id: call.id, ...next });
    if (started.kind === 'stale') return { kind: 'taken', result: 'stale' };
    if (started.kind !== 'taken') return started;
    measureDecision(outcome.decision);
    await convertAtDial(db, call.id, members, now);
    return { kind: 'taken', result: 'routed' };
  };
  return chooseBuyers(db, found, { ...asked, ...checksOf(call, routing) }, take);
}

async function claimOrChoose(
  db: Statements,
  call: RoutableCall,
  routing: Routing & Pick<RoutingContext, 'reservation'>,
): Promise<ClaimedBuyers | PreDialCheckRequired> {
  const { facts, candidates, asked, reservation } = routing;
  const awaited = reservation && {
    held: reservation,
    call: { offer_id: facts.offer.id!, caller_number: call.caller_number! },
  };
  const claimed = awaited && (await claimReservedBuyers(db, candidates, asked, awaited));
  if (claimed) return claimed;
  const take = reserveInTransaction(db, asked.now);
  return chooseBuyers(db, routing, { ...asked, ...checksOf(call, routing) }, take);
}

/** Checks before buyers are chosen or dialed; none without answers of pre-dial webhooks. */
function checksOf(call: RoutableCall, { asked, webhooks, known_bids, vetoes }: Routing) {
  const { tokens } = asked;
  return {
    checkOf: (members: readonly Member[]) =>
      vetoes && preDialCheckOf(members, webhooks, { call, tokens, vetoes }),
    counts_without_buyer: true,
    bidsOf:
      vetoes &&
      ((candidates: RoutingContext['candidates']) =>
        bidsRequired({ candidates, known_bids }, asked, { call })),
  };
}
