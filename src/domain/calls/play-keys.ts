import type { Carrier } from '../../platform/carriers/carrier';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { carrierUnavailable } from '../numbers/find-numbers';
import type { EditableCall } from './editable-call';
import { ADD_CONFERENCE, FIND_LEG_OF_ATTEMPT } from './queries/calls';
import { lockCall, type CallRow } from './read-call';

// A carrier plays keys to a buyer by taking the buyer out of the connection with the caller. Both
// then meet in a conference: the buyer after the last key, the caller when the carrier reports that
// the connection has ended, and asks what to do.

/** `n` counts from 1. */
export const conferenceName = ({ uuid }: { uuid: string }, n: number): string => `${uuid}-${n}`;

interface Keys {
  /** uuid of the attempt whose buyer hears the keys. */
  attempt: string;
  digits: string;
  carrier: Carrier;
}

/**
 * Has the carrier of a locked call play keys to the buyer. The report that the connection has ended
 * waits for the lock, so that it finds the conference. Throws 409 where the carrier cannot do it,
 * and 503 where it does not answer; then nothing has changed.
 */
export async function playKeys(
  db: Db,
  call: EditableCall,
  { attempt, digits, carrier }: Keys,
): Promise<void> {
  requireKeys(call, carrier);
  const [leg] = await db.sql(FIND_LEG_OF_ATTEMPT, { call_id: call.id, attempt });
  if (!leg?.leg_id)
    throw buildRefusal(
      `is not ready: ${call.carrier} has not reported its connection to the buyer`,
    );
  const [added] = await db.sql(ADD_CONFERENCE, { call_id: call.id });
  const conference = conferenceName(call, added!.conferences);
  const played = await carrier.playKeys({ leg_id: leg.leg_id, digits, conference });
  if (played.ok) return;
  if (played.retryable) throw carrierUnavailable(played, 'The call was not changed.');
  throw buildRefusal(`accepts no keys: ${played.message}`);
}

/** Throws 409 for a call whose carrier cannot play keys to a connected buyer. */
export function requireKeys(call: Pick<EditableCall, 'carrier'>, carrier: Carrier): void {
  if (call.carrier !== carrier.name)
    throw buildRefusal(`is at ${call.carrier}, and this service uses ${carrier.name}`);
  if (!carrier.capabilities.conference)
    throw buildRefusal('accepts no keys: its carrier plays none in a call that it has connected');
}

const buildRefusal = (message: string) => HttpProblem.field('id', 'carrier_refused', message);

/**
 * The conference in which the caller waits for the buyer, after the connection or an earlier
 * conference (`ended`; 0 for the connection) has ended: undefined if no keys were played since.
 * Waits for a request that is having keys played.
 */
export function findNextConference(
  db: Db,
  { id }: Pick<CallRow, 'id'>,
  ended: number,
): Promise<number | undefined> {
  return db.statements(async (tx) => {
    const call = await lockCall(tx, id);
    if (!call || call.ended_at !== null || call.conferences <= ended) return undefined;
    return call.conferences;
  });
}
