import { batchers } from '../db/batcher';
import type { Db, Statements } from '../db/tenant';
import type { FilterNeeds } from '../tokens/filter-needs';
import { readKnownBids, type KnownBids } from './bidding';
import { NO_TERMS, type CallFacts } from './caller-facts';
import { readCandidates, type AskedCall, type CallCandidates } from './candidates';
import type { Basis } from './engine/basis';
import { withBids } from './engine/bids';
import type { LinedUp } from './engine/decide';
import type { Candidate } from './engine/candidate';
import type { CallSource } from './engine/source';
import type { OfferSnapshot, Source } from './offer-snapshot';
import type { CallerState } from './queries/call-state';
import type { PreDialWebhook } from './read-pre-dial-webhooks';
import type { AwaitedReservation } from './reservations';

export interface Caller extends AskedCall {
  now: Date;
}

export interface RoutingContext {
  facts: CallFacts;
  /** In the order of the basis; stored bids are applied. */
  candidates: readonly Candidate[];
  /** Absent when no buyer is a bidder. */
  known_bids?: KnownBids | undefined;
  /** The part that decisions about the offer have in common. */
  basis: Basis;
  lined_up: LinedUp | undefined;
  /** Rows of caps by the ids of their owners. */
  caps: Pick<OfferSnapshot, 'caps_of_buyers' | 'caps_of_groups'>;
  webhooks: readonly PreDialWebhook[];
  /** The data that filters of candidates and webhooks need from the database. */
  needs: FilterNeeds;
  reservation: AwaitedReservation | undefined;
  /**
   * Possible sources of the call: the requested one, that of the caller's lead, that of the
   * reservation.
   */
  sources: ReadonlyMap<number, CallSource>;
  /** True for a call that was reported before. */
  is_known: boolean;
}

const batched = batchers<Caller, RoutingContext | undefined>();

/**
 * Loads everything that decides where a call goes; undefined when the offer does not exist. Outside
 * transactions, simultaneous calls of a company share one read.
 */
export async function loadRouting(
  db: Statements & Partial<Pick<Db, 'batched'>>,
  caller: Caller,
): Promise<RoutingContext | undefined> {
  if (!db.batched) return (await loadRoutings(db, [caller], caller.now))[0];
  const { company_id, key } = db;
  const connection = { company_id, key, ...db.batched };
  // Hours and windows of caps change at full minutes.
  const minute = Math.floor(caller.now.getTime() / 60_000);
  const run = (callers: readonly Caller[]) =>
    loadRoutings(connection, callers, callers.at(-1)!.now);
  return batched(db.batched, String(minute), () => ({ run, keyOf: (each) => each }))(caller);
}

/** Loads the contexts of several calls at once. */
export async function loadRoutings(
  db: Statements,
  calls: readonly AskedCall[],
  now: Date,
): Promise<(RoutingContext | undefined)[]> {
  const found = await readCandidates(db, calls, now);
  const known = await readKnownBids(db, calls, found, now);
  return found.map((each, n) => contextOf(calls[n]!.source, each, known[n]));
}

function contextOf(
  source: Source,
  { candidates, basis, lined_up, snapshot, caller }: CallCandidates,
  known_bids: KnownBids | undefined,
): RoutingContext | undefined {
  const facts = factsOf(source, caller);
  if (!facts) return undefined;
  return {
    facts,
    candidates: known_bids ? withBids(candidates, known_bids.kept) : candidates,
    known_bids,
    basis,
    // Columns hold the buyers without their bids.
    lined_up: known_bids ? undefined : lined_up,
    caps: snapshot,
    webhooks: snapshot.webhooks,
    needs: snapshot.needs,
    reservation: reservationOf(caller),
    sources: new Map(caller.sources.map((each) => [each.id, each])),
    is_known: caller.is_known,
  };
}

/** A call without an offer has no lead, no lists of an offer and no previous buyer. */
function factsOf(source: Source, { of_offer, ...caller }: CallerState): CallFacts | undefined {
  const { blacklisted, previous_fleets, calls_last } = caller;
  const known = { blacklisted, previous_fleets, calls_last };
  if ('offer_id' in source) return of_offer ? { ...known, ...of_offer } : undefined;
  return {
    ...known,
    offer: NO_TERMS,
    blocked_for_offer: false,
    suppressed_by: [],
    lead: null,
    previous_buyer_id: null,
    paid: [],
  };
}

const reservationOf = ({ reservation }: CallerState): AwaitedReservation | undefined =>
  reservation ? { ...reservation, expires_at: new Date(reservation.expires_at) } : undefined;

/** The source of the buyers of a call: its offer, or else the buyer that its number forwards to. */
export const sourceOf = ({
  offer_id,
  buyer_id,
}: {
  offer_id: string | number | null;
  buyer_id: string | number | null;
}): Source => (offer_id === null ? { buyer_id: String(buyer_id) } : { offer_id: String(offer_id) });
