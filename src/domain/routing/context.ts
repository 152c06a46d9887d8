import { randomBytes } from 'node:crypto';
import { createBatchers } from '../../data/batcher';
import type { Db, Statements } from '../../data/db';
import type { FilterNeeds } from '../../platform/tokens/filter-needs';
import { SUPERSEDES_ALL, parseSnapshotMark, type CapCache } from '../caps/cap-cache';
import { loadKnownBids, type KnownBids } from './bids';
import { copyWithBids } from './engine/bids';
import { copyCandidate, type Candidate } from './engine/candidate';
import type { PlainCandidates } from './engine/evaluate';
import type { Basis } from './engine/explain';
import type { Trunk } from './engine/line';
import type { CallSource } from './engine/source';
import { CALL_STATE, CHANGES, type BuyerLists, type CallerState } from './queries/call-state';
import { OFFER_WORDS, type CallFacts, type OfferTerms } from './queries/caller-facts';
import type { PreDialWebhook } from './queries/pre-dial-webhooks';
import type { AwaitedReservation } from './reservations';
import {
  addCaps,
  copyState,
  forgetSnapshot,
  forgetStates,
  getCachedSnapshot,
  getMinuteState,
  listLastCalls,
  loadFreshSnapshot,
  type OfferSnapshot,
  type OfferState,
  type Source,
} from './snapshot';

export type { CallFacts, OfferTerms } from './queries/caller-facts';

// Everything that decides where a call goes, at the moment of the call: settings and caps of the
// buyers from the cache (snapshot.ts), changes of these and the data of the caller from the
// database. One statement reads them for all simultaneous calls.

type Connection = Pick<Db, 'company_id' | 'key' | 'sql'>;

/** A new seed for the draw of a decision. It is stored with the decision, to repeat the draw. */
export const newSeed = (): string => randomBytes(8).toString('hex');

export interface RoutingRequest {
  source: Source;
  /** E.164 without the plus; null when it is withheld. */
  number: number | null;
  /** The traffic source of the call; null: the source of the caller's lead, or none. */
  traffic_source_id: string | number | null;
  /** Set for a call that may have been reported before. */
  carrier?: string;
  call_sid?: string | null;
}

export interface Caller extends RoutingRequest {
  now: Date;
}

export interface RoutingContext {
  facts: CallFacts;
  /** In the order of the basis; stored bids are applied. */
  candidates: readonly Candidate[];
  /** Candidates before any call changed them. */
  plain: PlainCandidates;
  /** The last dial of buyers, by id; empty for an offer without spacing. */
  last_calls: ReadonlyMap<number, Date>;
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
  /** Those of the company that calls may use now, in the order in which they are tried. */
  trunks: readonly Trunk[];
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
  if (!db.batched) return (await loadContexts(db, [caller], caller.now))[0];
  const { company_id, key } = db;
  const connection = { company_id, key, ...db.batched };
  // Hours and windows of caps change at full minutes.
  const minute = Math.floor(caller.now.getTime() / 60_000);
  const run = (callers: readonly Caller[]) =>
    loadContexts(connection, callers, callers.at(-1)!.now);
  return batched(db.batched, String(minute), () => ({
    run,
    toKey: (item) => item,
    at_once: 1,
    max_wait_ms: connection.max_call_wait_ms,
  }))(caller);
}

/** Loads the contexts of several calls at once; undefined for one whose offer does not exist. */
async function loadContexts(
  db: Statements,
  calls: readonly RoutingRequest[],
  now: Date,
): Promise<(RoutingContext | undefined)[]> {
  const callStates = await loadCallStates(db, calls, now);
  const knownBids = await loadKnownBids(db, callStates, now);
  return callStates.map((state) => buildContext(state, knownBids.get(state)));
}

function buildContext(
  { candidates, plain, last_calls, basis, snapshot, caller, offer_id, trunks }: CallState,
  knownBids: KnownBids | undefined,
): RoutingContext | undefined {
  const facts = buildFacts(offer_id, caller);
  if (!facts) return undefined;
  return {
    facts,
    candidates: knownBids ? copyWithBids(candidates, knownBids.storedBids) : candidates,
    plain,
    last_calls,
    known_bids: knownBids,
    basis,
    caps: snapshot,
    webhooks: snapshot.webhooks,
    needs: snapshot.needs,
    reservation: parseReservation(caller),
    sources: new Map(caller.sources.map((callSource) => [callSource.id, callSource])),
    trunks,
    is_known: caller.is_known,
  };
}

/** A call without an offer has no lead, no lists of an offer and no previous buyer. */
function buildFacts(
  offerId: string | null,
  { of_offer, ...caller }: CallerState,
): CallFacts | undefined {
  const { blacklisted, previous_fleets, calls_last } = caller;
  const callerFacts = { blacklisted, previous_fleets, calls_last };
  if (offerId !== null) return of_offer ? { ...callerFacts, ...of_offer } : undefined;
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

const NO_TERMS: OfferTerms = {
  id: null,
  name: '',
  paused: false,
  greeting_message: null,
  fallback_type: 'hang_up',
  fallback_message: null,
  fallback_number: null,
  abandoned_message: null,
  callback_behavior: 'route_as_new',
  skip_duplicates: false,
  spacing_seconds: 0,
  payouts: [],
};

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

/** A call with the buyers of its source, before bids. */
interface CallState {
  offer_id: string | null;
  number: number | null;
  candidates: readonly Candidate[];
  bidders: OfferSnapshot['bidders'];
  plain: PlainCandidates;
  last_calls: ReadonlyMap<number, Date>;
  basis: Basis;
  snapshot: OfferSnapshot;
  caller: CallerState;
  trunks: readonly Trunk[];
}

/** Loads the buyers of the source of each call as they are now. */
async function loadCallStates(
  db: Connection,
  calls: readonly RoutingRequest[],
  now: Date,
): Promise<CallState[]> {
  const snapshots = await loadSnapshots(db, calls);
  for (;;) {
    const read = await readState(db, calls, { snapshots, now });
    const outdated = [...snapshots].filter(([, { changes }]) => changes !== read.changes);
    if (outdated.length === 0)
      return calls.map((call, index) =>
        buildCallState(call, snapshots.get(JSON.stringify(call.source))!, { ...read, index }),
      );
    for (const [key, snapshot] of outdated) {
      const fresh = await loadFreshSnapshot(db, JSON.parse(key) as Source, read.changes);
      snapshots.set(key, fresh);
      if (fresh !== snapshot) forgetSnapshot(db.key, snapshot);
    }
  }
}

function buildCallState(
  { source, number }: RoutingRequest,
  snapshot: OfferSnapshot,
  { offers, caps, suppressed, earnings, callers, trunks, index }: StateRead & { index: number },
): CallState {
  const offer = offers.get(snapshot)!;
  const changed: CandidateChanges = new Map();
  for (const { id, epc } of earnings) changed.set(id, { epc });
  for (const { index: position, buyer_id, lists } of suppressed)
    if (position === index + 1)
      changed.set(buyer_id, { ...changed.get(buyer_id), suppressed_by: lists });
  return {
    offer_id: 'offer_id' in source ? source.offer_id : null,
    number,
    candidates: applyChanges(offer, changed),
    bidders: snapshot.bidders,
    plain: offer.plain,
    last_calls: callers[index]!.of_offer?.offer.spacing_seconds
      ? listLastCalls(snapshot, caps)
      : NO_LAST_CALLS,
    basis: offer.basis,
    snapshot,
    caller: callers[index]!,
    trunks,
  };
}

const NO_LAST_CALLS: RoutingContext['last_calls'] = new Map();

type CandidateChanges = Map<number, Parameters<typeof copyCandidate>[1]>;

function applyChanges(
  { current, indexByBuyerId }: OfferState,
  changed: CandidateChanges,
): readonly Candidate[] {
  if (changed.size === 0) return current;
  const candidates = [...current];
  for (const [buyerId, changes] of changed) {
    const index = indexByBuyerId.get(buyerId);
    if (index !== undefined) candidates[index] = copyCandidate(candidates[index]!, changes);
  }
  return candidates;
}

/** The snapshots of the sources of calls, by the source as JSON. */
async function loadSnapshots(
  db: Connection,
  calls: readonly RoutingRequest[],
): Promise<Map<string, OfferSnapshot>> {
  const snapshots = new Map<string, OfferSnapshot>();
  let changes: string | undefined;
  for (const { source } of calls) {
    const key = JSON.stringify(source);
    if (snapshots.has(key)) continue;
    const cached = getCachedSnapshot(db, source);
    if (!cached) changes ??= await loadChanges(db);
    snapshots.set(key, cached ?? (await loadFreshSnapshot(db, source, changes!)));
  }
  return snapshots;
}

async function loadChanges(db: Connection): Promise<string> {
  const [row] = await db.sql(CHANGES, {});
  return row!.changes;
}

interface StateRead {
  changes: string;
  offers: ReadonlyMap<OfferSnapshot, OfferState>;
  caps: CapCache;
  suppressed: BuyerLists[];
  earnings: { id: number; epc: number | null }[];
  callers: CallerState[];
  trunks: Trunk[];
}

/** Reads the state that calls have changed, and adds it to the cache. */
async function readState(
  db: Connection,
  calls: readonly RoutingRequest[],
  { snapshots: bySource, now }: { snapshots: ReadonlyMap<string, OfferSnapshot>; now: Date },
): Promise<StateRead> {
  const shared = getMinuteState(db.key, now);
  const snapshots = [...new Set(bySource.values())];
  const unread = snapshots.filter((snapshot) => !shared.offers.has(snapshot));
  const base = shared.caps.mark;
  const [row] = await db.sql(CALL_STATE, {
    xmax: base === null ? null : String(base.xmax),
    running: base?.running ?? [],
    limit_ids: toLimitIds(unread),
    by_epc: snapshots.flatMap(({ by_epc }) => by_epc),
    ...toColumns(calls),
    now,
  });
  const { run, caps, changes, snapshot, own_xid, suppressed, earnings, callers, trunks } = row!;
  shared.run ??= run;
  if (run !== shared.run) {
    // Another server run: cached transaction ids are meaningless. Start again.
    forgetStates(db.key);
    return readState(db, calls, { snapshots: bySource, now });
  }
  // Writes of a transaction are visible to itself alone and may be rolled back: keep them out of
  // the shared state.
  const state = own_xid === null ? shared : copyState(shared);
  const mark = own_xid === null ? parseSnapshotMark(snapshot) : SUPERSEDES_ALL;
  addCaps(state, caps, { base, mark, unread, now });
  const offers = new Map(snapshots.map((item) => [item, state.offers.get(item)!]));
  return { changes, offers, caps: state.caps, suppressed, earnings, callers, trunks };
}

const toColumns = (calls: readonly RoutingRequest[]) => ({
  numbers: toColumn(calls, ({ number }) => number),
  offer_ids: toColumn(calls, ({ source }) => ('offer_id' in source ? source.offer_id : null)),
  source_ids: toColumn(calls, ({ traffic_source_id }) => traffic_source_id),
  carriers: toColumn(calls, ({ carrier }) => carrier),
  call_sids: toColumn(calls, ({ call_sid }) => call_sid),
});

/** Arrays may contain nulls, which the parameter types do not allow. */
const toColumn = (
  calls: readonly RoutingRequest[],
  readValue: (call: RoutingRequest) => string | number | null | undefined,
): string[] => calls.map((call) => (readValue(call) ?? null) as string);

/** The ids of rows of caps, as the text of an array. */
function toLimitIds(snapshots: readonly OfferSnapshot[]): readonly bigint[] {
  if (snapshots.length === 1) return snapshots[0]!.limit_ids;
  const lists = snapshots.flatMap(({ limit_ids }) => String(limit_ids).slice(1, -1) || []);
  return `{${lists.join(',')}}` as unknown as readonly bigint[];
}

/** Messages and the fallback number for callers of an offer that no buyer takes. */
export type OfferWords = Pick<
  OfferTerms,
  'greeting_message' | 'fallback_message' | 'fallback_number' | 'abandoned_message'
>;

/** Undefined when the offer does not exist. */
export async function loadOfferWords(
  db: Connection,
  offerId: number,
): Promise<OfferWords | undefined> {
  return (await db.sql(OFFER_WORDS, { offer_id: offerId }))[0];
}
