import type { Db } from '../../data/db';
import type { ChosenBuyers } from './engine/reserved-choice';
import {
  CONFIRM_RESERVATION,
  FIND_RESERVATION,
  INSERT_RESERVATION,
  RELEASE_RESERVATION,
  RESERVED_OFFER,
} from './queries/reservations';

// Caps reserved for a future call, which a seller pinged or posted.

type Connection = Pick<Db, 'sql'>;

export interface Reservation {
  id: number;
  buyer_ids: number[];
  buyer_group_id: number | null;
  slots: ChosenBuyers['slots'];
  caps: ChosenBuyers['caps'];
  expires_at: Date;
}

/** A reservation that a call can take over, with the seller's data about the call. */
export interface AwaitedReservation extends Reservation {
  traffic_source_id: number | null;
  sub_id: string | null;
  token_values: Record<string, unknown>;
}

export interface AwaitedCall {
  offer_id: number | string;
  /** E.164 without the plus. */
  caller_number: number;
  now: Date;
}

/**
 * The reservation for the next call of a caller to an offer: posted ones first, then the oldest.
 */
export async function findReservation(
  db: Connection,
  awaited: AwaitedCall,
): Promise<AwaitedReservation | undefined> {
  return (await db.sql(FIND_RESERVATION, awaited))[0];
}

/** The offer for which a caller has a reservation, for a number without an offer of its own. */
export async function findReservedOffer(
  db: Connection,
  callerNumber: number,
  now: Date,
): Promise<string | undefined> {
  const [row] = await db.sql(RESERVED_OFFER, { caller_number: callerNumber, now });
  return row?.offer_id;
}

export interface NewReservation {
  ping_id: string;
  offer_id: number;
  caller_number: number;
  /** The endpoint of the seller, and the network of the request. */
  inbound_webhook_id: number;
  remote_ip: string;
  chosen: Pick<ChosenBuyers, 'members' | 'slots' | 'caps'>;
  posted: boolean;
  /** True when the call goes to the buyer's own number, past this installation. */
  direct: boolean;
  now: Date;
  expires_at: Date;
}

/** Stores a reservation for a ping, in the transaction that reserved the caps. */
export async function insertReservation(
  db: Connection,
  { chosen, ...reservation }: NewReservation,
): Promise<void> {
  await db.sql(INSERT_RESERVATION, {
    ...reservation,
    buyer_ids: chosen.members.map(({ buyer }) => buyer.id),
    buyer_group_id: chosen.members[0]?.group?.id ?? null,
    slots: JSON.stringify(chosen.slots),
    caps: JSON.stringify(chosen.caps),
  });
}

interface Confirmation {
  ping_id: string;
  /** Buyers that the post is for. */
  allowed: readonly number[];
  direct: boolean;
  now: Date;
  expires_at: Date;
}

/** Extends a ping's reservation, if it has not expired, for the call that follows the post. */
export async function confirmReservation(
  db: Connection,
  confirmation: Confirmation,
): Promise<Reservation | undefined> {
  return (await db.sql(CONFIRM_RESERVATION, confirmation))[0];
}

/**
 * Makes a ping's reservation expire now. The sweep of expired reservations releases its caps, not
 * this transaction: it has locked other rows of caps already, and two transactions that lock them
 * in different orders would deadlock.
 */
export async function releaseReservation(db: Connection, pingId: string, now: Date): Promise<void> {
  await db.sql(RELEASE_RESERVATION, { ping_id: pingId, now });
}
