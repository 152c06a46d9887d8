import { createBatchers } from '../../data/batcher';
import { buildReferenceProblem } from '../../data/records';
import type { Db } from '../../data/db';
import type { CallMoney } from '../money/engine/settlement';
import { applyBids } from '../routing/bids';
import { applyFullTrunks } from '../routing/engine/trunks';
import { buildReservedChoice, type ChosenBuyers } from '../routing/engine/reserved-choice';
import { loadRouting, type RoutingContext } from '../routing/context';
import { isCheckRequired, type PreDialCheckRequired } from '../routing/pre-dial';
import { findReservation } from '../routing/reservations';
import { chooseBuyers, toSlots, type TakeOutcome } from '../routing/reserve-buyers';
import { inSpan } from '../../platform/telemetry/tracing';
import {
  toRoutingRequest,
  loadFactsForNewCall,
  buildNewCall,
  buildNewSession,
  buildStartEvents,
  findOffer,
  type IncomingCall,
} from './receive';
import { buildRound, measureDecision } from './outcome';
import { findCall, readCall, type CallRow } from './read-call';
import {
  startCalls,
  startSingleCall,
  type NewCall,
  type Round,
  type StartCall,
  type StartResult,
} from './record-call';
import { startWithPayments } from './pay-at-dial';
import { buildChecks, type Routing } from './route-call';
import { readSession, type CallSession } from './session';

export interface StartedCall {
  session: CallSession;
  /** False when the call was reported before. */
  created: boolean;
}

/**
 * Starts a call. It goes to the buyer that a seller has reserved for it, else to the one that
 * routing chooses now; the caps are reserved in the statement that writes the call, or not at all.
 * A call that is reported twice, even at the same time, is one call. Has no effect when the result
 * is that webhooks must be asked first.
 */
export const startCall = (
  db: Db,
  incoming: IncomingCall,
  now: Date,
): Promise<StartedCall | PreDialCheckRequired> =>
  inSpan('routing decision', {}, async (span) => {
    const result = await start(db, incoming, now);
    if (span && !isCheckRequired(result)) span.setAttributes(toSpanAttributes(result.session));
    return result;
  });

const toSpanAttributes = ({ instruction: { action, dial } }: CallSession) => ({
  'trunkline.action': action,
  'trunkline.buyers_dialed': dial.length,
});

async function start(
  db: Db,
  incoming: IncomingCall,
  now: Date,
): Promise<StartedCall | PreDialCheckRequired> {
  const waitsSince = performance.now();
  const read = await loadRouting(db, { ...toRoutingRequest(incoming), now });
  if (!read) return startForOfferReference(db, incoming, now);
  const knownCall = read.is_known && (await findCall(db, incoming.carrier, incoming.call_sid!));
  if (knownCall) return loadKnownCall(db, knownCall);
  const context = applyBids(read, incoming.preDial?.bids);
  const call = buildNewCall(incoming, context, now);
  const routingFacts = await loadFactsForNewCall(db, { incoming, call, context }, now);
  const { preDial } = incoming;
  const events = buildStartEvents(call);
  const routing = { ...context, routingFacts, preDial, events, waits_since: waitsSince };
  const routed =
    (await takeOverReservation(db, call, routing)) ??
    (await chooseBuyers(
      context,
      { ...routingFacts, ...buildChecks({ ...call, round: 0 }, routing) },
      ({ evaluation, members, trunks, usages, refused }) => {
        const slots = toSlots(usages);
        const chosen = { evaluation, members, trunks, slots, caps: [], refused };
        return startRouted(db, { call, routing, chosen, usages });
      },
    ));
  if (isCheckRequired(routed)) return routed;
  if ('known_id' in routed) return loadKnownCall(db, await readCall(db, String(routed.known_id)));
  const { id, round } = routed;
  return { session: buildNewSession(call, { id, ...round }, { context, now }), created: true };
}

/**
 * No offer has the id `offer_id`: it may be the customer's own identifier. Throws 422 if it is not.
 */
async function startForOfferReference(
  db: Db,
  { offerReference, ...incoming }: IncomingCall,
  now: Date,
): Promise<StartedCall | PreDialCheckRequired> {
  if (offerReference === undefined)
    throw buildReferenceProblem('offer_id', [String(incoming.offer_id)]);
  return startCall(db, { ...incoming, offer_id: await findOffer(db, offerReference) }, now);
}

const loadKnownCall = async (db: Db, call: CallRow): Promise<StartedCall> => ({
  session: await readSession(db, call, { fresh: true }),
  created: false,
});

interface RoutingOfNewCall extends Routing, Pick<RoutingContext, 'reservation'> {
  /** When the call was received, by `performance.now()`. */
  waits_since: number;
}

/**
 * Starts a call with a reservation, caps included, instead of choosing buyers. Undefined when no
 * reservation is left whose buyers can be dialed. Two calls of a caller never get the same one.
 */
async function takeOverReservation(
  db: Db,
  call: NewCall,
  routing: RoutingOfNewCall,
): Promise<RoutedCall | undefined> {
  const { facts } = routing;
  let { reservation, routingFacts } = routing;
  while (reservation) {
    const chosen = buildReservedChoice(routing, routingFacts, reservation);
    if (!chosen) return undefined;
    const hold = { hold_id: reservation.id, usages: [] };
    const outcome = await startRouted(db, { call, routing, chosen, ...hold });
    if (outcome.kind === 'done') return outcome.result;
    if (outcome.kind === 'trunk_full') {
      const lines = applyFullTrunks(routingFacts.lines!, outcome.trunk_ids);
      routingFacts = { ...routingFacts, lines };
      continue;
    }
    const awaited = { offer_id: facts.offer.id!, caller_number: call.caller_number! };
    reservation = await findReservation(db, { ...awaited, now: routingFacts.now });
  }
  return undefined;
}

type RoutedCall = { id: number; round: Round } | { known_id: number };

interface ChosenCall extends Pick<StartCall, 'call' | 'usages' | 'hold_id'> {
  routing: Routing & Pick<RoutingOfNewCall, 'waits_since'>;
  chosen: ChosenBuyers;
}

/** Writes a call with the buyers that were chosen for it, unless their caps have no room. */
async function startRouted(
  db: Db,
  { call, routing, chosen, ...start }: ChosenCall,
): Promise<TakeOutcome<RoutedCall>> {
  const round = buildRound({ ...call, round: 0 }, routing, chosen);
  const result = await startWithPayments(db, chosen.members, {
    loadCall: () => ({ call, money: buildMoney(call, routing), now: round.now }),
    start: (payments) => startInBatch(db, { call, round, payments, ...start }, routing.waits_since),
  });
  if (result.kind === 'known') return { kind: 'done', result: { known_id: result.id } };
  if (result.kind === 'hold_gone') return { kind: 'full', full: [] };
  if (result.kind === 'full' || result.kind === 'trunk_full') return result;
  measureDecision(round.decision);
  return { kind: 'done', result: { id: result.id, round } };
}

/** The dollars of a call of which nothing was paid yet. */
const buildMoney = (
  { caller_number, traffic_source_id }: NewCall,
  { facts: { offer }, sources }: Routing,
): CallMoney => ({
  ...{ caller_number, traffic_source_id },
  revenue: 0,
  payout: 0,
  traffic_source_converted: false,
  buyer_repeat_caller: false,
  traffic_source_repeat_caller: false,
  is_payout_returned: false,
  payments: [],
  payouts: offer.payouts,
  source_payouts: (traffic_source_id !== null && sources.get(traffic_source_id)?.payouts) || [],
});

const batched = createBatchers<StartCall, StartResult>();

/** Outside transactions, calls that start at the same time share one exchange. */
function startInBatch(db: Db, start: StartCall, waitsSince: number): Promise<StartResult> {
  const { batched: statements } = db;
  const startSingle = (item: StartCall) => db.statements((tx) => startSingleCall(tx, item));
  if (!statements) return startSingle(start);
  // Hours and windows of caps change at full minutes.
  const minute = Math.floor(start.round.now.getTime() / 60_000);
  return batched(statements, String(minute), () => ({
    run: (starts) => startCalls(statements, starts),
    toKey: ({ call: { carrier, carrier_call_id } }) =>
      carrier_call_id === null ? Symbol() : `${carrier}/${carrier_call_id}`,
    // Two would split calls into smaller batches that want the same rows.
    at_once: 1,
    max_wait_ms: statements.max_call_wait_ms,
    fallback: {
      runSingle: startSingle,
      isItemError: (error) => SINGLE_CALL_ERRORS.test(String((error as { code?: string }).code)),
    },
  }))(start, waitsSince);
}

/**
 * SQLSTATE classes of errors that a single call may cause: by its values, or a record that it names
 * and that is gone; a call that is being started; a deadlock; a lock for which a batch must not
 * wait long; payments for the caller that were not expected (TL002).
 */
const SINGLE_CALL_ERRORS = /^(2|40|54|55P03|P0|TL)/;
