import { createBatchers } from '../../data/batcher';
import type { Db, Statements } from '../../data/db';
import type { FilterNeeds } from '../../platform/tokens/filter-needs';
import { loadKnownBids, type KnownBids } from './bidding';
import { NO_TERMS, type CallFacts } from './caller-facts';
import { loadCallCandidates, type RoutingRequest, type CallCandidates } from './candidates';
import { copyWithBids } from './engine/bids';
import type { Candidate } from './engine/candidate';
import type { Basis } from './engine/explain';
import type { CallSource } from './engine/source';
import type { OfferSnapshot, Source } from './offer-snapshot';
import type { CallerState } from './queries/call-state';
import type { PreDialWebhook } from './read-pre-dial-webhooks';
import type { AwaitedReservation } from './reservations';

export interface Caller extends RoutingRequest {
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

const batched = createBatchers<Caller, RoutingContext | undefined>();

/**
 * Loads everything that decides where a call goes; undefined when the offer does not exist. Outside
 * transactions, simultaneous calls of a company share one read.
 */
export async function loadRouting(
  db: Statements & Partial<Pick<Db, 'batched'>>,
  caller: Caller,
): Promise<RoutingContext | undefined> {
  if (!db.batched) return (await loadRoutingBatch(db, [caller], caller.now))[0];
  const { company_id, key } = db;
  const connection = { company_id, key, ...db.batched };
  // Hours and windows of caps change at full minutes.
  const minute = Math.floor(caller.now.getTime() / 60_000);
  const run = (callers: readonly Caller[]) =>
    loadRoutingBatch(connection, callers, callers.at(-1)!.now);
  return batched(db.batched, String(minute), () => ({ run, toKey: (item) => item, at_once: 1 }))(
    caller,
  );
}

/** Loads the contexts of several calls at once. */
export async function loadRoutingBatch(
  db: Statements,
  calls: readonly RoutingRequest[],
  now: Date,
): Promise<(RoutingContext | undefined)[]> {
  const callCandidates = await loadCallCandidates(db, calls, now);
  const knownBids = await loadKnownBids(db, calls, callCandidates, now);
  return callCandidates.map((candidates, n) =>
    buildContext(calls[n]!.source, candidates, knownBids[n]),
  );
}

function buildContext(
  source: Source,
  { candidates, basis, snapshot, caller }: CallCandidates,
  knownBids: KnownBids | undefined,
): RoutingContext | undefined {
  const facts = buildFacts(source, caller);
  if (!facts) return undefined;
  return {
    facts,
    candidates: knownBids ? copyWithBids(candidates, knownBids.storedBids) : candidates,
    known_bids: knownBids,
    basis,
    caps: snapshot,
    webhooks: snapshot.webhooks,
    needs: snapshot.needs,
    reservation: parseReservation(caller),
    sources: new Map(caller.sources.map((callSource) => [callSource.id, callSource])),
    is_known: caller.is_known,
  };
}

/** A call without an offer has no lead, no lists of an offer and no previous buyer. */
function buildFacts(source: Source, { of_offer, ...caller }: CallerState): CallFacts | undefined {
  const { blacklisted, previous_fleets, calls_last } = caller;
  const callerFacts = { blacklisted, previous_fleets, calls_last };
  if ('offer_id' in source) return of_offer ? { ...callerFacts, ...of_offer } : undefined;
  return {
    ...callerFacts,
    offer: NO_TERMS,
    blocked_for_offer: false,
    suppressed_by: [],
    lead: null,
    previous_buyer_id: null,
    paid: [],
  };
}

const parseReservation = ({ reservation }: CallerState): AwaitedReservation | undefined =>
  reservation ? { ...reservation, expires_at: new Date(reservation.expires_at) } : undefined;

/** The source of the buyers of a call: its offer, or else the buyer that its number forwards to. */
export const toSource = ({
  offer_id,
  buyer_id,
}: {
  offer_id: string | number | null;
  buyer_id: string | number | null;
}): Source => (offer_id === null ? { buyer_id: String(buyer_id) } : { offer_id: String(offer_id) });
