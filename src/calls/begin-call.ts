import { batchers } from '../db/batcher';
import { unknownReferences } from '../db/records';
import type { Db } from '../db/tenant';
import { withAnswers } from '../routing/bidding';
import { loadRouting } from '../routing/load-routing';
import {
  checkedTransaction,
  isCheckRequired,
  type PreDialCheckRequired,
} from '../routing/pre-dial-webhooks';
import { beginTogether, type BegunTogether } from './begin-together';
import { inSpan } from '../telemetry/tracing';
import {
  askedOf,
  factsOfNewCall,
  newCallOf,
  newSessionOf,
  startedOf,
  type IncomingCall,
} from './new-call';
import { findCall, lockCallSid, type CallRow } from './read-call';
import { findOffer } from './read-incoming-call';
import { routeNewCall, type Routed } from './route-call';
import { readSession, type CallSession } from './session';

export interface Begun {
  session: CallSession;
  /** False when the call was reported before. */
  created: boolean;
}

interface Beginning {
  incoming: IncomingCall;
  now: Date;
}

/**
 * After this many lost races for its caps, a call is started in a transaction, which waits for
 * locks.
 */
const MAX_TIMES = 5;

const batched = batchers<Beginning, BegunTogether>();

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
export const beginCall = (
  db: Db,
  incoming: IncomingCall,
  now: Date,
): Promise<Begun | PreDialCheckRequired> =>
  inSpan('routing decision', {}, async (span) => {
    const begun = await begin(db, incoming, now);
    if (span && !isCheckRequired(begun)) span.setAttributes(decisionOf(begun.session));
    return begun;
  });

const decisionOf = ({ instruction: { action, dial } }: CallSession) => ({
  'trunkline.action': action,
  'trunkline.buyers_dialed': dial.length,
});

async function begin(
  db: Db,
  incoming: IncomingCall,
  now: Date,
): Promise<Begun | PreDialCheckRequired> {
  if (!db.batched) return beginAlone(db, incoming, now);
  let begun = await beginInBatch(db, db.batched, { incoming, now });
  for (let times = 1; begun === 'again' && times < MAX_TIMES; times++)
    begun = await beginInBatch(db, db.batched, { incoming, now });
  if (begun === 'no_offer') return beginForOwnOffer(db, incoming, now);
  if (begun === 'apart' || begun === 'again') return beginAlone(db, incoming, now);
  return isCheckRequired(begun) ? begun : { session: begun, created: true };
}

function beginInBatch(
  { company_id, key }: Db,
  statements: NonNullable<Db['batched']>,
  beginning: Beginning,
): Promise<BegunTogether> {
  // Hours and windows of caps change at full minutes.
  const minute = Math.floor(beginning.now.getTime() / 60_000);
  const begin = batched(statements, String(minute), () => ({
    run: (beginnings) =>
      beginTogether(
        { company_id, key, ...statements },
        beginnings.map(({ incoming }) => incoming),
        beginnings.at(-1)!.now,
      ),
    keyOf: ({ incoming: { carrier, call_sid } }) =>
      call_sid === null ? Symbol() : `${carrier}/${call_sid}`,
    at_once: statements.at_once,
  }));
  return begin(beginning);
}

/**
 * No offer has the id `offer_id`: it may be the customer's own identifier. Throws 422 if it is not.
 */
async function beginForOwnOffer(
  db: Db,
  { unread_offer, ...incoming }: IncomingCall,
  now: Date,
): Promise<Begun | PreDialCheckRequired> {
  if (unread_offer === undefined) throw unknownReferences('offer_id', [String(incoming.offer_id)]);
  return beginCall(db, { ...incoming, offer_id: await findOffer(db, unread_offer) }, now);
}

async function beginAlone(
  db: Db,
  incoming: IncomingCall,
  now: Date,
): Promise<Begun | PreDialCheckRequired> {
  const { carrier, call_sid } = incoming;
  const known = call_sid === null ? undefined : await findCall(db, carrier, call_sid);
  if (known) return begunBefore(db, known);
  const read = await loadRouting(db, { ...askedOf(incoming), now });
  if (!read) return beginForOwnOffer(db, incoming, now);
  const found = withAnswers(read, incoming.vetoes?.bids);
  const call = newCallOf(incoming, found, now);
  const asked = await factsOfNewCall(db, { incoming, call, found }, now);
  const begun = await checkedTransaction<{ known: CallRow } | { routed: Routed }>(
    db,
    async (tx) => {
      if (call_sid !== null) {
        await lockCallSid(tx, carrier, call_sid);
        // Another request may have reported the same call a moment before.
        const other = await findCall(tx, carrier, call_sid);
        if (other) return { known: other };
      }
      const routing = { ...found, asked, vetoes: incoming.vetoes, events: startedOf(call) };
      const routed = await routeNewCall(tx, { ...call, round: 0 }, routing);
      return isCheckRequired(routed) ? routed : { routed };
    },
  );
  if (isCheckRequired(begun)) return begun;
  if ('known' in begun) return begunBefore(db, begun.known);
  return { session: newSessionOf(call, begun.routed, { found, now }), created: true };
}

const begunBefore = async (db: Db, known: CallRow): Promise<Begun> => ({
  session: await readSession(db, known, { fresh: true }),
  created: false,
});
