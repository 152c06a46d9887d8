import { createBatchers } from '../../data/batcher';
import { buildReferenceProblem } from '../../data/records';
import type { Db } from '../../data/db';
import { applyBids } from '../routing/bidding';
import { loadRouting } from '../routing/load-routing';
import {
  runCheckedTransaction,
  isCheckRequired,
  type PreDialCheckRequired,
} from '../routing/pre-dial-webhooks';
import { startCallBatch, type BatchResult } from './begin-together';
import { inSpan } from '../../platform/telemetry/tracing';
import {
  toRoutingRequest,
  loadFactsForNewCall,
  buildNewCall,
  buildNewSession,
  buildStartEvents,
  type IncomingCall,
} from './new-call';
import { findCall, lockCallSid, type CallRow } from './read-call';
import { findOffer } from './read-incoming-call';
import { routeNewCall, type RoutedCall } from './route-call';
import { readSession, type CallSession } from './session';

export interface StartedCall {
  session: CallSession;
  /** False when the call was reported before. */
  created: boolean;
}

interface StartRequest {
  incoming: IncomingCall;
  now: Date;
}

/**
 * After this many lost races for its caps, a call is started in a transaction, which waits for
 * locks.
 */
const MAX_TIMES = 5;

const batched = createBatchers<StartRequest, BatchResult>();

/**
 * Starts a call. It goes to the buyer that a seller has reserved for it, else to the one that
 * routing chooses now; the caps are reserved in the statement that writes the call, or not at all.
 * A call that is reported twice, even at the same time, is one call. Has no effect when the result
 * is that webhooks must be asked first.
 *
 * Calls that arrive at the same time are started as one batch, by one statement that reads and one
 * that writes. Calls that need more, or for which a cap was taken in the meantime, are started in a
 * transaction of their own.
 */
export const startCall = (
  db: Db,
  incoming: IncomingCall,
  now: Date,
): Promise<StartedCall | PreDialCheckRequired> =>
  inSpan('routing decision', {}, async (span) => {
    const result = await begin(db, incoming, now);
    if (span && !isCheckRequired(result)) span.setAttributes(toSpanAttributes(result.session));
    return result;
  });

const toSpanAttributes = ({ instruction: { action, dial } }: CallSession) => ({
  'trunkline.action': action,
  'trunkline.buyers_dialed': dial.length,
});

async function begin(
  db: Db,
  incoming: IncomingCall,
  now: Date,
): Promise<StartedCall | PreDialCheckRequired> {
  if (!db.batched) return startCallInTransaction(db, incoming, now);
  let result = await startInBatch(db, db.batched, { incoming, now });
  for (let times = 1; result === 'retry' && times < MAX_TIMES; times++)
    result = await startInBatch(db, db.batched, { incoming, now });
  if (result === 'unknown_offer') return startForOfferReference(db, incoming, now);
  if (result === 'needs_transaction' || result === 'retry')
    return startCallInTransaction(db, incoming, now);
  return isCheckRequired(result) ? result : { session: result, created: true };
}

function startInBatch(
  { company_id, key }: Db,
  statements: NonNullable<Db['batched']>,
  beginning: StartRequest,
): Promise<BatchResult> {
  // Hours and windows of caps change at full minutes.
  const minute = Math.floor(beginning.now.getTime() / 60_000);
  const begin = batched(statements, String(minute), () => ({
    run: (beginnings) =>
      startCallBatch(
        { company_id, key, ...statements },
        beginnings.map(({ incoming }) => incoming),
        beginnings.at(-1)!.now,
      ),
    toKey: ({ incoming: { carrier, call_sid } }) =>
      call_sid === null ? Symbol() : `${carrier}/${call_sid}`,
    at_once: statements.at_once,
  }));
  return begin(beginning);
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

async function startCallInTransaction(
  db: Db,
  incoming: IncomingCall,
  now: Date,
): Promise<StartedCall | PreDialCheckRequired> {
  const { carrier, call_sid } = incoming;
  const existingCall = call_sid === null ? undefined : await findCall(db, carrier, call_sid);
  if (existingCall) return loadExistingCall(db, existingCall);
  const read = await loadRouting(db, { ...toRoutingRequest(incoming), now });
  if (!read) return startForOfferReference(db, incoming, now);
  const context = applyBids(read, incoming.preDial?.bids);
  const call = buildNewCall(incoming, context, now);
  const routingFacts = await loadFactsForNewCall(db, { incoming, call, context }, now);
  const result = await runCheckedTransaction<{ existingCall: CallRow } | { routed: RoutedCall }>(
    db,
    async (tx) => {
      if (call_sid !== null) {
        await lockCallSid(tx, carrier, call_sid);
        // Another request may have reported the same call a moment before.
        const storedCall = await findCall(tx, carrier, call_sid);
        if (storedCall) return { existingCall: storedCall };
      }
      const routing = {
        ...context,
        routingFacts,
        preDial: incoming.preDial,
        events: buildStartEvents(call),
      };
      const routed = await routeNewCall(tx, { ...call, round: 0 }, routing);
      return isCheckRequired(routed) ? routed : { routed };
    },
  );
  if (isCheckRequired(result)) return result;
  if ('existingCall' in result) return loadExistingCall(db, result.existingCall);
  return { session: buildNewSession(call, result.routed, { context, now }), created: true };
}

const loadExistingCall = async (db: Db, call: CallRow): Promise<StartedCall> => ({
  session: await readSession(db, call, { fresh: true }),
  created: false,
});
