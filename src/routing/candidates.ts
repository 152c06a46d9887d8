import type { Db } from '../db/tenant';
import { CapsSeen, LATEST, readSeen } from './caps-seen';
import type { Basis } from './engine/basis';
import type { LinedUp } from './engine/decide';
import { copyCandidate, type Candidate } from './engine/candidate';
import { cachedSnapshot, freshSnapshot, type OfferSnapshot, type Source } from './offer-snapshot';
import { apply, limitIdsOf, offerStateOf, type OfferState } from './offer-state';
import { CALL_STATE, CHANGES, type BuyerLists, type CallerState } from './queries/call-state';

// The buyers of offers at the moment of a call: their settings (offer-snapshot.ts), and the state
// that calls have changed (caps-seen.ts). One statement reads that state for all simultaneous
// calls, with the data of their callers.

type Connection = Pick<Db, 'company_id' | 'key' | 'sql'>;

interface MinuteState {
  /** The server run that it was read from (src/db/server-run.ts). */
  run?: string;
  caps: CapsSeen;
  offers: Map<OfferSnapshot, OfferState>;
}

/** By company; the most recently used one is last. */
const states_of = new Map<string, Map<number, MinuteState>>();
const MAX_COMPANIES = 1_000;
/** Calls are for the current minute, but an explanation can be for any time. */
const MAX_MINUTES = 2;

function stateOf(key: string, now: Date): MinuteState {
  const minute = Math.floor(now.getTime() / 60_000);
  const minutes = states_of.get(key) ?? new Map<number, MinuteState>();
  states_of.delete(key);
  states_of.set(key, minutes);
  if (states_of.size > MAX_COMPANIES) states_of.delete(states_of.keys().next().value!);
  const known = minutes.get(minute);
  if (known) return known;
  const state: MinuteState = { caps: new CapsSeen(), offers: new Map() };
  minutes.set(minute, state);
  if (minutes.size > MAX_MINUTES) minutes.delete(minutes.keys().next().value!);
  return state;
}

export interface AskedCall {
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
  lined_up: LinedUp | undefined;
  snapshot: OfferSnapshot;
  caller: CallerState;
}

/**
 * Loads the buyers of the offer of each call, or the buyer that its number forwards to, with
 * everything that decides whether they can take the call.
 */
export async function readCandidates(
  db: Connection,
  calls: readonly AskedCall[],
  now: Date,
): Promise<CallCandidates[]> {
  const snapshots = await snapshotsOf(db, calls);
  for (;;) {
    const { changes, offers, suppressed, earnings, callers } = await readState(db, calls, {
      snapshots,
      now,
    });
    const outdated = [...snapshots].filter(([, snapshot]) => snapshot.changes !== changes);
    if (outdated.length > 0) {
      for (const [key, snapshot] of outdated) {
        const fresh = await freshSnapshot(db, sourceOfKey(key), changes);
        snapshots.set(key, fresh);
        if (fresh !== snapshot) forget(db.key, snapshot);
      }
      continue;
    }
    return calls.map(({ source }, n) => {
      const snapshot = snapshots.get(JSON.stringify(source))!;
      const { current, basis, lineup, places } = offers.get(snapshot)!;
      const changed = new Map<number, Parameters<typeof copyCandidate>[1]>();
      for (const { id, epc } of earnings) changed.set(id, { epc });
      for (const { place, buyer_id, lists } of suppressed)
        if (place === n + 1)
          changed.set(buyer_id, { ...changed.get(buyer_id), suppressed_by: lists });
      return {
        candidates: withChanges(current, places, changed),
        basis,
        lined_up: lineup && { lineup, apart: placesOf(changed.keys(), places) },
        snapshot,
        caller: callers[n]!,
      };
    });
  }
}

function placesOf(ids: Iterable<number>, places: ReadonlyMap<number, number>): Set<number> {
  const found = new Set<number>();
  for (const id of ids) {
    const place = places.get(id);
    if (place !== undefined) found.add(place);
  }
  return found;
}

/** Removes a replaced snapshot: if settings change often, a minute would keep many. */
function forget(key: string, snapshot: OfferSnapshot): void {
  for (const { offers } of states_of.get(key)?.values() ?? []) offers.delete(snapshot);
}

const sourceOfKey = (key: string): Source => JSON.parse(key) as Source;

function withChanges(
  current: readonly Candidate[],
  places: ReadonlyMap<number, number>,
  changed: ReadonlyMap<number, Parameters<typeof copyCandidate>[1]>,
): readonly Candidate[] {
  if (changed.size === 0) return current;
  const candidates = [...current];
  for (const [buyer_id, changes] of changed) {
    const place = places.get(buyer_id);
    if (place !== undefined) candidates[place] = copyCandidate(candidates[place]!, changes);
  }
  return candidates;
}

/** The snapshots of the sources of calls, by the source as JSON. */
async function snapshotsOf(
  db: Connection,
  calls: readonly AskedCall[],
): Promise<Map<string, OfferSnapshot>> {
  const snapshots = new Map<string, OfferSnapshot>();
  let changes: string | undefined;
  for (const { source } of calls) {
    const key = JSON.stringify(source);
    if (snapshots.has(key)) continue;
    const cached = cachedSnapshot(db, source);
    if (!cached) changes ??= await readChanges(db);
    snapshots.set(key, cached ?? (await freshSnapshot(db, source, changes!)));
  }
  return snapshots;
}

interface Reading {
  snapshots: ReadonlyMap<string, OfferSnapshot>;
  now: Date;
}

/** Loads the state that calls have changed, and adds it to the cache. */
async function readState(
  db: Connection,
  calls: readonly AskedCall[],
  { snapshots, now }: Reading,
): Promise<{
  changes: string;
  offers: ReadonlyMap<OfferSnapshot, OfferState>;
  suppressed: BuyerLists[];
  earnings: { id: number; epc: number | null }[];
  callers: CallerState[];
}> {
  const shared = stateOf(db.key, now);
  const all = [...new Set(snapshots.values())];
  const unread = all.filter((snapshot) => !shared.offers.has(snapshot));
  const base = shared.caps.seen;
  const [row] = await db.sql(CALL_STATE, {
    xmax: base === null ? null : String(base.xmax),
    running: base?.running ?? [],
    limit_ids: idsOf(unread),
    by_epc: all.flatMap(({ by_epc }) => by_epc),
    ...columnsOf(calls),
    now,
  });
  const { run, caps, changes, snapshot, own_xid, suppressed, earnings, callers } = row!;
  shared.run ??= run;
  if (run !== shared.run) {
    // Another server run: cached transaction ids are meaningless. Start again.
    states_of.delete(db.key);
    return readState(db, calls, { snapshots, now });
  }
  // Writes of a transaction are visible to itself alone and may be rolled back: keep them out of
  // the shared state.
  const state = own_xid === null ? shared : copyOf(shared);
  const seen = own_xid === null ? readSeen(snapshot) : LATEST;
  const added = state.caps.add(caps, { base, seen, looked_at: unread.flatMap(limitIdsOf) });
  if (added.length > 0)
    for (const [known, offer] of state.offers)
      apply(known, offer, { caps: state.caps, added, now });
  const offers = new Map<OfferSnapshot, OfferState>();
  for (const each of all) {
    const known = state.offers.get(each) ?? offerStateOf(each, state.caps, now);
    state.offers.set(each, known);
    offers.set(each, known);
  }
  return { changes, offers, suppressed, earnings, callers };
}

const copyOf = ({ caps, offers }: MinuteState): MinuteState => ({
  caps: caps.copy(),
  offers: new Map(
    [...offers].map(([snapshot, offer]) => [snapshot, { ...offer, groups: new Map(offer.groups) }]),
  ),
});

const columnsOf = (calls: readonly AskedCall[]) => ({
  numbers: column(calls, ({ number }) => number),
  offer_ids: column(calls, ({ source }) => ('offer_id' in source ? source.offer_id : null)),
  source_ids: column(calls, ({ traffic_source_id }) => traffic_source_id),
  carriers: column(calls, ({ carrier }) => carrier),
  call_sids: column(calls, ({ call_sid }) => call_sid),
});

/** Arrays may contain nulls, which the parameter types do not allow. */
const column = (
  calls: readonly AskedCall[],
  valueOf: (call: AskedCall) => string | number | null | undefined,
): string[] => calls.map((call) => (valueOf(call) ?? null) as string);

/** The ids of rows of caps, as the text of an array. */
function idsOf(snapshots: readonly OfferSnapshot[]): readonly bigint[] {
  if (snapshots.length === 1) return snapshots[0]!.limit_ids;
  const lists = snapshots.flatMap(({ limit_ids }) => String(limit_ids).slice(1, -1) || []);
  return `{${lists.join(',')}}` as unknown as readonly bigint[];
}

async function readChanges(db: Connection): Promise<string> {
  const [row] = await db.sql(CHANGES, {});
  return row!.changes;
}
