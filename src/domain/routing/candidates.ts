import type { Db } from '../../data/db';
import { CapCache, SUPERSEDES_ALL, parseSnapshotMark } from '../caps/cap-cache';
import { copyCandidate, type Candidate } from './engine/candidate';
import type { Basis } from './engine/explain';
import {
  getCachedSnapshot,
  loadFreshSnapshot,
  type OfferSnapshot,
  type Source,
} from './offer-snapshot';
import { applyCapChanges, listLimitIds, buildOfferState, type OfferState } from './offer-state';
import { CALL_STATE, CHANGES, type BuyerLists, type CallerState } from './queries/call-state';

// The buyers of offers at the moment of a call: their settings (offer-snapshot.ts), and the state
// that calls have changed (domain/caps/cap-cache.ts). One statement reads that state for all
// simultaneous calls, with the data of their callers.

type Connection = Pick<Db, 'company_id' | 'key' | 'sql'>;

interface MinuteState {
  /** The server run that it was read from (src/data/postgres/server-run.ts). */
  run?: string;
  caps: CapCache;
  offers: Map<OfferSnapshot, OfferState>;
}

/** By company; the most recently used one is last. */
const statesByCompany = new Map<string, Map<number, MinuteState>>();
const MAX_COMPANIES = 1_000;
/** Calls are for the current minute, but an explanation can be for any time. */
const MAX_MINUTES = 2;

function getMinuteState(key: string, now: Date): MinuteState {
  const minute = Math.floor(now.getTime() / 60_000);
  const minutes = statesByCompany.get(key) ?? new Map<number, MinuteState>();
  statesByCompany.delete(key);
  statesByCompany.set(key, minutes);
  if (statesByCompany.size > MAX_COMPANIES)
    statesByCompany.delete(statesByCompany.keys().next().value!);
  const cachedState = minutes.get(minute);
  if (cachedState) return cachedState;
  const state: MinuteState = { caps: new CapCache(), offers: new Map() };
  minutes.set(minute, state);
  if (minutes.size > MAX_MINUTES) minutes.delete(minutes.keys().next().value!);
  return state;
}

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

export interface CallCandidates {
  candidates: readonly Candidate[];
  basis: Basis;
  snapshot: OfferSnapshot;
  caller: CallerState;
}

/**
 * Loads the buyers of the offer of each call, or the buyer that its number forwards to, with
 * everything that decides whether they can take the call.
 */
export async function loadCallCandidates(
  db: Connection,
  calls: readonly RoutingRequest[],
  now: Date,
): Promise<CallCandidates[]> {
  const snapshots = await loadSnapshots(db, calls);
  for (;;) {
    const { changes, offers, suppressed, earnings, callers } = await loadState(db, calls, {
      snapshots,
      now,
    });
    const outdated = [...snapshots].filter(([, snapshot]) => snapshot.changes !== changes);
    if (outdated.length > 0) {
      for (const [key, snapshot] of outdated) {
        const fresh = await loadFreshSnapshot(db, parseSourceKey(key), changes);
        snapshots.set(key, fresh);
        if (fresh !== snapshot) forgetSnapshot(db.key, snapshot);
      }
      continue;
    }
    return calls.map(({ source }, n) => {
      const snapshot = snapshots.get(JSON.stringify(source))!;
      const { current, basis, indexByBuyerId } = offers.get(snapshot)!;
      const changed = new Map<number, Parameters<typeof copyCandidate>[1]>();
      for (const { id, epc } of earnings) changed.set(id, { epc });
      for (const { index: position, buyer_id, lists } of suppressed)
        if (position === n + 1)
          changed.set(buyer_id, { ...changed.get(buyer_id), suppressed_by: lists });
      return {
        candidates: applyChanges(current, indexByBuyerId, changed),
        basis,
        snapshot,
        caller: callers[n]!,
      };
    });
  }
}

/** Removes a replaced snapshot: if settings change often, a minute would keep many. */
function forgetSnapshot(key: string, snapshot: OfferSnapshot): void {
  for (const { offers } of statesByCompany.get(key)?.values() ?? []) offers.delete(snapshot);
}

const parseSourceKey = (key: string): Source => JSON.parse(key) as Source;

function applyChanges(
  current: readonly Candidate[],
  indexByBuyerId: ReadonlyMap<number, number>,
  changed: ReadonlyMap<number, Parameters<typeof copyCandidate>[1]>,
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

interface Reading {
  snapshots: ReadonlyMap<string, OfferSnapshot>;
  now: Date;
}

/** Loads the state that calls have changed, and adds it to the cache. */
async function loadState(
  db: Connection,
  calls: readonly RoutingRequest[],
  { snapshots, now }: Reading,
): Promise<{
  changes: string;
  offers: ReadonlyMap<OfferSnapshot, OfferState>;
  suppressed: BuyerLists[];
  earnings: { id: number; epc: number | null }[];
  callers: CallerState[];
}> {
  const shared = getMinuteState(db.key, now);
  const all = [...new Set(snapshots.values())];
  const unread = all.filter((snapshot) => !shared.offers.has(snapshot));
  const base = shared.caps.mark;
  const [row] = await db.sql(CALL_STATE, {
    xmax: base === null ? null : String(base.xmax),
    running: base?.running ?? [],
    limit_ids: toLimitIds(unread),
    by_epc: all.flatMap(({ by_epc }) => by_epc),
    ...toColumns(calls),
    now,
  });
  const { run, caps, changes, snapshot, own_xid, suppressed, earnings, callers } = row!;
  shared.run ??= run;
  if (run !== shared.run) {
    // Another server run: cached transaction ids are meaningless. Start again.
    statesByCompany.delete(db.key);
    return loadState(db, calls, { snapshots, now });
  }
  // Writes of a transaction are visible to itself alone and may be rolled back: keep them out of
  // the shared state.
  const state = own_xid === null ? shared : copyState(shared);
  const mark = own_xid === null ? parseSnapshotMark(snapshot) : SUPERSEDES_ALL;
  const added = state.caps.add(caps, { base, mark, looked_at: unread.flatMap(listLimitIds) });
  if (added.length > 0)
    for (const [offerSnapshot, offer] of state.offers)
      applyCapChanges(offerSnapshot, offer, { caps: state.caps, added });
  const offers = new Map<OfferSnapshot, OfferState>();
  for (const offerSnapshot of all) {
    const offerState =
      state.offers.get(offerSnapshot) ?? buildOfferState(offerSnapshot, state.caps, now);
    state.offers.set(offerSnapshot, offerState);
    offers.set(offerSnapshot, offerState);
  }
  return { changes, offers, suppressed, earnings, callers };
}

const copyState = ({ caps, offers }: MinuteState): MinuteState => ({
  caps: caps.copy(),
  offers: new Map(
    [...offers].map(([snapshot, offer]) => [snapshot, { ...offer, groups: new Map(offer.groups) }]),
  ),
});

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

async function loadChanges(db: Connection): Promise<string> {
  const [row] = await db.sql(CHANGES, {});
  return row!.changes;
}
